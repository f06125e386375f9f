/* What is looked at in a JPEG file before stb decodes it: stb 2.27, which distributions ship, writes behind its tables where a Huffman table has too many
   symbols. */
#ifndef QN__DATA_JPEG_H
#define QN__DATA_JPEG_H

#include <stdbool.h>
#include <stdint.h>

/* Whether each Huffman table of the file has at most 256 symbols (ITU-T T.81, section B.2.4.2). Files of another format have none. */
bool qn__jpeg_tables_fit(const uint8_t *file, uint64_t size);

#endif
