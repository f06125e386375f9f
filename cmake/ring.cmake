# libquern_ring: rings (quern/ring.h, src/ring) above libquern, static and shared: quern::ring_static, quern::ring_shared, and
# quern::ring for the one that goes with quern::quern. The texts for kernels are inside (src/ring/texts.h).
# Run as a script (cmake -P) it writes OUT, the C file with these texts: FILES, each under its NAMES.
if(CMAKE_SCRIPT_MODE_FILE)
    include(${CMAKE_CURRENT_LIST_DIR}/text_array.cmake)
    set(arrays "")
    set(rows "")
    foreach(path name IN ZIP_LISTS FILES NAMES)
        string(MAKE_C_IDENTIFIER "${name}" identifier)
        quern_text_array(array ${identifier} ${path})
        string(APPEND arrays "${array}")
        string(APPEND rows "    {\"${name}\", ${identifier}},\n")
    endforeach()
    file(WRITE ${OUT} "#include \"ring/texts.h\"\n${arrays}const qn_header qn__ring_texts[] = {\n${rows}};\n")
    return()
endif()

set(ring_texts "")
set(ring_text_names "")
foreach(part batch apart mail pieces wide send)
    list(APPEND ring_texts ${PROJECT_SOURCE_DIR}/src/ring/${part}.cl)
    list(APPEND ring_text_names quern/ring_${part}.cl)
endforeach()
list(APPEND ring_texts ${PROJECT_SOURCE_DIR}/src/ring/ring.cl ${PROJECT_SOURCE_DIR}/src/ring/layout.h
     ${PROJECT_SOURCE_DIR}/include/quern/ring_message.h)
list(APPEND ring_text_names quern/ring.cl quern/ring_layout.h quern/ring_message.h)
set(ring_text_source ${PROJECT_BINARY_DIR}/generated/ring_texts.c)
add_custom_command(
    OUTPUT ${ring_text_source}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${ring_texts}" "-DNAMES=${ring_text_names}" -DOUT=${ring_text_source} -P
            ${PROJECT_SOURCE_DIR}/cmake/ring.cmake
    DEPENDS ${ring_texts} ${PROJECT_SOURCE_DIR}/cmake/ring.cmake ${PROJECT_SOURCE_DIR}/cmake/text_array.cmake
    VERBATIM)
file(GLOB ring_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ring/*.c)
add_library(quern_ring_objects OBJECT ${ring_sources} ${ring_text_source})
target_link_libraries(quern_ring_objects PRIVATE quern_flags)
quern_library(quern_ring ring_ ring quern_ring_objects)
target_link_libraries(quern_ring_static PUBLIC quern_static)
target_link_libraries(quern_ring_shared PUBLIC quern_shared)
