# Unit tests: tests/unit/<room>_*.c, one cmocka program each, linked to its room.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

file(GLOB unit_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/*.c)
foreach(source ${unit_tests})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_.*" "" room ${name})
    if(room STREQUAL "api" AND TARGET quern_static)
        set(library quern_static)
    elseif(TARGET quern_${room})
        set(library quern_${room})
    else()
        continue()
    endif()
    add_executable(unit_${name} ${source})
    target_link_libraries(unit_${name} PRIVATE quern_flags ${library} PkgConfig::CMOCKA m)
    target_compile_definitions(unit_${name} PRIVATE QN__SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    add_test(NAME unit.${name} COMMAND unit_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endforeach()

# Pages that are generated from the sources are up to date.
add_test(NAME docs.ir COMMAND scripts/gen-ir-docs --check WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
