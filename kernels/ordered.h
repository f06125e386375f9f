// Keys as integers that are ordered as the keys are. The file that includes it has KEY, the unsigned integer of a key's size, and BITS,
// that size; FLOAT or SIGNED, what it stands for; DESCENDING.
#define TOP ((KEY)1 << (BITS - 1))

static KEY ordered(KEY key) {
#ifdef FLOAT
    key ^= key & TOP ? (KEY) ~(KEY)0 : TOP;
#elif defined SIGNED
    key ^= TOP;
#endif
#ifdef DESCENDING
    key = (KEY)~key;
#endif
    return key;
}

// The key of an ordered one.
static KEY key_of(KEY key) {
#ifdef DESCENDING
    key = (KEY)~key;
#endif
#ifdef FLOAT
    key ^= key & TOP ? TOP : (KEY) ~(KEY)0;
#elif defined SIGNED
    key ^= TOP;
#endif
    return key;
}
