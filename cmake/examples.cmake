# The examples: each links quern as a user's program would. See examples/README.md.
set(stb_required REQUIRED)
include(cmake/stb.cmake)

function(quern_example name)
    add_executable(quern_${name} ${ARGN})
    target_link_libraries(quern_${name} PRIVATE quern_kernels_static m)
    target_include_directories(quern_${name} SYSTEM PRIVATE ${STB_INCLUDE})
    target_compile_options(quern_${name} PRIVATE -Wall -Wextra -Wpedantic $<$<BOOL:${QUERN_WERROR}>:-Werror>)
    target_compile_definitions(quern_${name} PRIVATE _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700)
endfunction()

file(GLOB tour_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/tour/*.c)
quern_example(tour ${tour_sources})
quern_example(saxpy examples/saxpy.c)
quern_example(filters examples/filters.c)
quern_example(shared_header examples/shared_header/main.c)
target_compile_definitions(quern_shared_header
                           PRIVATE EXAMPLE_DIR="${PROJECT_SOURCE_DIR}/examples/shared_header")

# Those of tensors.
foreach(name xor digits regression vae gan series mnist rnn text gpt2)
    quern_example(${name} examples/tensors/${name}.c)
    target_link_libraries(quern_${name} PRIVATE quern_tensor_static)
endforeach()

foreach(name vector_add stream_filter anomalies pagerank)
    quern_example(ring_${name} examples/rings/${name}.c)
    target_link_libraries(quern_ring_${name} PRIVATE quern_ring_static)
    target_compile_definitions(quern_ring_${name} PRIVATE EXAMPLE_DIR="${PROJECT_SOURCE_DIR}/examples/rings")
endforeach()

# The kernels of one lie in a file of their own, and in the program.
set(pagerank_kernels ${PROJECT_SOURCE_DIR}/examples/rings/pagerank.cl)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pagerank_kernels})
file(READ ${pagerank_kernels} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/pagerank_text.h CONTENT "static const char pagerank_text[] = {${bytes}0};\n")
target_include_directories(quern_ring_pagerank PRIVATE ${PROJECT_BINARY_DIR}/generated)

# A web server, where libmicrohttpd is.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
    pkg_check_modules(microhttpd QUIET IMPORTED_TARGET libmicrohttpd)
endif()
if(microhttpd_FOUND)
    quern_example(ring_http_server examples/rings/http_server.c)
    target_link_libraries(quern_ring_http_server PRIVATE quern_ring_static PkgConfig::microhttpd)
endif()

if(QUERN_TESTS)
    # The page in Chromium without a window, where there is one.
    add_test(NAME example.browser COMMAND python3 -B tests/check_browser.py $<TARGET_FILE:quern> ${PROJECT_BINARY_DIR}/browser
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(example.browser PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
    add_test(NAME example.ring_vector_add COMMAND quern_ring_vector_add ${PROJECT_BINARY_DIR}/vector_add.svg)
    set_tests_properties(example.ring_vector_add PROPERTIES PASS_REGULAR_EXPRESSION "0 of 8000 numbers wrong")
    add_test(NAME example.ring_stream_filter COMMAND quern_ring_stream_filter ${PROJECT_BINARY_DIR}/stream_filter.svg)
    set_tests_properties(example.ring_stream_filter PROPERTIES PASS_REGULAR_EXPRESSION "0 of 64000 samples wrong")
    add_test(NAME example.ring_anomalies COMMAND quern_ring_anomalies ${PROJECT_BINARY_DIR}/anomalies.svg)
    set_tests_properties(example.ring_anomalies PROPERTIES PASS_REGULAR_EXPRESSION
                                                           "20 of 20 anomalies found, 0 false alarms, 100 questions")
    # Their pictures have bars, and labels below them.
    set_tests_properties(example.ring_vector_add PROPERTIES FIXTURES_SETUP ring_pictures)
    set_tests_properties(example.ring_stream_filter PROPERTIES FIXTURES_SETUP ring_pictures)
    add_test(NAME example.ring_pictures COMMAND python3 -B ${PROJECT_SOURCE_DIR}/tests/check_ring_pictures.py
                                                ${PROJECT_BINARY_DIR}/vector_add.svg ${PROJECT_BINARY_DIR}/stream_filter.svg)
    set_tests_properties(example.ring_pictures PROPERTIES FIXTURES_REQUIRED ring_pictures)
    # Both ranks are right, and actors need fewer sweeps.
    add_test(NAME example.ring_pagerank COMMAND quern_ring_pagerank ${PROJECT_BINARY_DIR}/pagerank.svg)
    add_test(NAME example.ring_pagerank_pieces COMMAND quern_ring_pagerank --pieces)
    if(TARGET quern_ring_http_server)
        add_test(NAME example.ring_http_server COMMAND quern_ring_http_server ${PROJECT_BINARY_DIR}/http_server.svg)
        set_tests_properties(example.ring_http_server PROPERTIES PASS_REGULAR_EXPRESSION "\n0 of 8000 answers wrong")
        quern_script_test(example.ring_http_server_by_hand python3 -B tests/check_http_server.py
                          $<TARGET_FILE:quern_ring_http_server>)
    endif()
    add_test(NAME example.xor COMMAND quern_xor)
    set_tests_properties(example.xor PROPERTIES PASS_REGULAR_EXPRESSION "4 of 4 right")
    # Small networks that learn a little, interpreted: compiling would take longer. scripts/test-long runs the examples as they are.
    # All kernels of these are checked, too. Those of digits are skipped where scripts/digits could not get them.
    foreach(name regression series rnn text)
        add_test(NAME example.${name} COMMAND tests/checked $<TARGET_FILE:quern_${name}> --quick --plot
                                              ${PROJECT_BINARY_DIR}/${name}.svg
                 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    endforeach()
    foreach(name vae gan)
        add_test(NAME example.${name}
                 COMMAND sh -c "test -s build/data/digits.csv.gz || { echo 'skipped: no digits'; exit 77; }; exec tests/checked \"$0\" build/data/digits.csv.gz --quick"
                         $<TARGET_FILE:quern_${name}>
                 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(example.${name} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
    add_test(NAME check.example.digits
             COMMAND sh -c "test -s build/data/digits.csv.gz || { echo 'skipped: no digits'; exit 77; }; exec tests/checked \"$0\" build/data/digits.csv.gz --quick"
                     $<TARGET_FILE:quern_digits>
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(check.example.digits PROPERTIES SKIP_RETURN_CODE 77)
    quern_script_test(example.gpt2 scripts/python -B tests/tensor/check_gpt2.py tests/checked $<TARGET_FILE:quern_gpt2>)
    add_test(NAME example.mnist
             COMMAND sh -c "test -s build/data/digits.csv.gz || { echo 'skipped: no digits'; exit 77; }; python3 -B tests/tensor/make_idx.py build/data/digits.csv.gz \"$1\" 24 10 && exec tests/checked \"$0\" \"$1\" --quick"
                     $<TARGET_FILE:quern_mnist> ${PROJECT_BINARY_DIR}/mnist
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(example.mnist PROPERTIES SKIP_RETURN_CODE 77)
    # Fails below 98 % of the digits told right.
    add_test(NAME example.digits
             COMMAND sh -c "test -s build/data/digits.csv.gz || { echo 'skipped: no digits'; exit 77; }; exec \"$0\" build/data/digits.csv.gz"
                     $<TARGET_FILE:quern_digits>
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(example.digits PROPERTIES SKIP_RETURN_CODE 77)
    add_test(NAME example.saxpy COMMAND quern_saxpy)
    set_tests_properties(example.saxpy PROPERTIES PASS_REGULAR_EXPRESSION "12 24 36 48 60 72 84 96")
    add_test(NAME example.shared_header COMMAND quern_shared_header)
    set_tests_properties(example.shared_header PROPERTIES PASS_REGULAR_EXPRESSION "particle +0: .* [1-9] bounces")
    add_test(NAME example.tour COMMAND quern_tour --quick --out ${PROJECT_BINARY_DIR}/tour)
    set_tests_properties(example.tour PROPERTIES FIXTURES_SETUP tour_pictures)
    # With all their kernels checked, as those above. All tests of kernels: scripts/test-long.
    add_test(NAME check.example.tour COMMAND tests/checked $<TARGET_FILE:quern_tour> --quick --out ${PROJECT_BINARY_DIR}/tour-checked
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(check.example.tour PROPERTIES TIMEOUT 600)
    set(checked_examples saxpy shared_header xor ring_vector_add ring_stream_filter ring_anomalies ring_pagerank)
    if(TARGET quern_ring_http_server)
        list(APPEND checked_examples ring_http_server)
    endif()
    foreach(name ${checked_examples})
        add_test(NAME check.example.${name} COMMAND tests/checked $<TARGET_FILE:quern_${name}>
                 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    endforeach()
    add_test(NAME check.example.filters COMMAND ${PROJECT_SOURCE_DIR}/tests/checked $<TARGET_FILE:quern_filters>
                                                tour/mandelbrot.png 4
             WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set_tests_properties(check.example.filters PROPERTIES FIXTURES_REQUIRED tour_pictures)
    add_test(NAME example.filters COMMAND quern_filters tour/mandelbrot.png 4
             WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set_tests_properties(example.filters PROPERTIES FIXTURES_REQUIRED tour_pictures)
endif()
