# quern_text_array(OUT NAME PATH): the definition of `NAME`, a C array with the text of a file that is in OpenCL C, and 0 behind it.
# Comments to a line's end and the white space around a line stay out of the library; lines keep their numbers.
function(quern_text_array out name path)
    file(READ ${path} text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX REPLACE "[ \t]+\n" "\n" text "${text}")
    string(REGEX REPLACE "\n[ \t]+" "\n" text "${text}")
    string(HEX "${text}" bytes)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    set(${out} "static const char ${name}[] = {${bytes}0};\n" PARENT_SCOPE)
endfunction()
