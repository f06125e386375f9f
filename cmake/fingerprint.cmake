# Writes OUTPUT, a header with a hash of all sources in SOURCE_DIR but those above the core: two builds of different compilers must not share
# cache entries. Run as cmake -DSOURCE_DIR=... -DOUTPUT=... -P fingerprint.cmake
file(GLOB_RECURSE files ${SOURCE_DIR}/*.c ${SOURCE_DIR}/*.h ${SOURCE_DIR}/*.def ${SOURCE_DIR}/*.cl)
list(FILTER files EXCLUDE REGEX "/src/(kernels|tensor|nn|data)/")
list(SORT files)
set(all "")
foreach(file ${files})
    file(SHA256 ${file} one)
    string(APPEND all ${one})
endforeach()
string(SHA256 all "${all}")
string(SUBSTRING ${all} 0 16 all)
file(WRITE ${OUTPUT} "/* A hash of the sources. */\n#define QN__FINGERPRINT \"${all}\"\n")
