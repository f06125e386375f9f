# STB_INCLUDE: the folder of stb_image.h and stb_image_write.h. They are headers only: cross compiling, this machine's do. The tool and the
# examples need them; libquern_tensor reads no images without.
find_path(STB_INCLUDE stb_image.h PATH_SUFFIXES stb ${stb_required} CMAKE_FIND_ROOT_PATH_BOTH)
