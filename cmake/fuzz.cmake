# Fuzz targets: fuzz/<room>_*.c, one libFuzzer program each (clang), linked to its room. Everything is instrumented.
# Seeds are in fuzz/corpus/<name>, words in fuzz/<name>.dict.
set(fuzz_flags -fsanitize=address,undefined -fno-sanitize-recover=undefined)
target_compile_options(quern_flags INTERFACE ${fuzz_flags} -fsanitize=fuzzer-no-link)
target_link_options(quern_flags INTERFACE ${fuzz_flags})

file(GLOB fuzz_targets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*.c)
foreach(source ${fuzz_targets})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_.*" "" room ${name})
    if(room MATCHES "^(backend|runtime)$" OR NOT TARGET quern_${room})
        set(library quern_static)
    else()
        set(library quern_${room})
    endif()
    add_executable(fuzz_${name} ${source})
    target_link_libraries(fuzz_${name} PRIVATE quern_flags ${library})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endforeach()
