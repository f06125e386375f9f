# libquern_tensor: tensors (quern/tensor.h, src/tensor) above libquern_kernels, static and shared: quern::tensor_static,
# quern::tensor_shared, and quern::tensor for the one that goes with quern::quern.
file(GLOB_RECURSE tensor_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tensor/*.c ${PROJECT_SOURCE_DIR}/src/nn/*.c
     ${PROJECT_SOURCE_DIR}/src/data/*.c)
add_library(quern_tensor_objects OBJECT ${tensor_sources})
target_link_libraries(quern_tensor_objects PRIVATE quern_flags)
quern_library(quern_tensor tensor_ tensor quern_tensor_objects)
target_link_libraries(quern_tensor_static PUBLIC quern_kernels_static)
target_link_libraries(quern_tensor_shared PUBLIC quern_kernels_shared)
# PNG and JPEG (src/data/pixels.c) by stb, whose headers are compiled in, where they are.
include(cmake/stb.cmake)
if(STB_INCLUDE)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/data/pixels.c PROPERTIES COMPILE_DEFINITIONS QN__HAS_STB
                                                                                   COMPILE_OPTIONS "-isystem;${STB_INCLUDE}")
endif()
