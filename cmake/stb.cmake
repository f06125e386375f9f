# STB_INCLUDE: the folder of stb_image.h and stb_image_write.h. They are headers only: cross compiling, this machine's do.
find_path(STB_INCLUDE stb_image.h PATH_SUFFIXES stb REQUIRED CMAKE_FIND_ROOT_PATH_BOTH)
