
#define H "once.h"
#include H
#include "once.h"
#include <once.h>