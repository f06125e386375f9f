# libquern_kernels: the calls of quern/kernels.h (src/kernels), static and shared, with the files of kernels/ as texts inside
# (src/kernels/texts.h). The targets have the names that an installed quern gives them: quern::kernels_static,
# quern::kernels_shared, and quern::kernels for the one that goes with quern::quern.
# Run as a script (cmake -P) it writes OUT, the C file with the texts of the files under FOLDER.
if(CMAKE_SCRIPT_MODE_FILE)
    include(${CMAKE_CURRENT_LIST_DIR}/text_array.cmake)
    file(GLOB_RECURSE paths RELATIVE ${FOLDER} ${FOLDER}/*.cl ${FOLDER}/*.h)
    list(SORT paths)
    set(headers ${paths})
    list(FILTER headers INCLUDE REGEX "\\.h$")
    set(arrays "")
    set(rows "")
    set(index 0)
    foreach(path ${paths})
        quern_text_array(array text${index} ${FOLDER}/${path})
        string(APPEND arrays "${array}")
        string(MAKE_C_IDENTIFIER "text_of_${path}" name)
        set(${name} text${index})
        get_filename_component(folder "${path}" DIRECTORY)
        string(MAKE_C_IDENTIFIER "headers_${folder}" table)
        list(APPEND folders "${folder}|${table}")
        string(APPEND rows "    {\"${path}\", text${index}, ${table}, sizeof ${table} / sizeof *${table}},\n")
        math(EXPR index "${index} + 1")
    endforeach()
    # A header by the names that a file of the folder includes it by.
    list(REMOVE_DUPLICATES folders)
    foreach(entry ${folders})
        string(REGEX REPLACE "\\|.*" "" folder "${entry}")
        string(REGEX REPLACE ".*\\|" "" table "${entry}")
        string(APPEND arrays "static const qn_header ${table}[] = {\n")
        foreach(header ${headers})
            file(RELATIVE_PATH name "/${folder}" "/${header}")
            string(MAKE_C_IDENTIFIER "text_of_${header}" text)
            string(APPEND arrays "    {\"${name}\", ${${text}}},\n")
        endforeach()
        string(APPEND arrays "};\n")
    endforeach()
    file(WRITE ${OUT} "#include \"kernels/texts.h\"
#include <string.h>
${arrays}static const qn__text texts[] = {\n${rows}};
const qn__text *qn__text_find(const char *name) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i].name, name) == 0) return &texts[i];
    return NULL;
}
")
    return()
endif()

file(GLOB_RECURSE kernel_texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*.cl ${PROJECT_SOURCE_DIR}/kernels/*.h)
set(kernel_text_source ${PROJECT_BINARY_DIR}/generated/kernel_texts.c)
add_custom_command(
    OUTPUT ${kernel_text_source}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/kernels -DOUT=${kernel_text_source}
            -P ${PROJECT_SOURCE_DIR}/cmake/kernels.cmake
    DEPENDS ${kernel_texts} ${PROJECT_SOURCE_DIR}/cmake/kernels.cmake ${PROJECT_SOURCE_DIR}/cmake/text_array.cmake
    VERBATIM)
file(GLOB kernel_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernels/*.c)
add_library(quern_kernels_objects OBJECT ${kernel_sources} ${kernel_text_source})
target_link_libraries(quern_kernels_objects PRIVATE quern_flags)
quern_library(quern_kernels kernels_ kernels quern_kernels_objects)
target_link_libraries(quern_kernels_static PUBLIC quern_static)
target_link_libraries(quern_kernels_shared PUBLIC quern_shared)
