/* GPT-2 continues a text, from the files that Hugging Face has of it: model.safetensors, vocab.json and merges.txt in a folder, of any size (gpt2,
   gpt2-medium, distilgpt2, ...).
   Usage: quern_gpt2 FOLDER [--text "Once upon a time"] */
#include "bpe.h"
#include "gpt.h"

enum { NEW_TOKENS = 60, FEW_TOKENS = 5, MOST_TOKENS = 1024 };

/* GPT-2's names, and its matrices, which are inputs by outputs. Masks in the file are not weights. */
static const qn_load_rule rules[] = {
    {.name = "tokens.weight", .from = "wte.weight"},
    {.name = "places.weight", .from = "wpe.weight"},
    {.name = "layers.*.self_attn.in_proj_weight", .from = "h.*.attn.c_attn.weight", .transpose = true},
    {.name = "layers.*.self_attn.in_proj_bias", .from = "h.*.attn.c_attn.bias"},
    {.name = "layers.*.self_attn.out_proj.weight", .from = "h.*.attn.c_proj.weight", .transpose = true},
    {.name = "layers.*.self_attn.out_proj.bias", .from = "h.*.attn.c_proj.bias"},
    {.name = "layers.*.linear1.weight", .from = "h.*.mlp.c_fc.weight", .transpose = true},
    {.name = "layers.*.linear1.bias", .from = "h.*.mlp.c_fc.bias"},
    {.name = "layers.*.linear2.weight", .from = "h.*.mlp.c_proj.weight", .transpose = true},
    {.name = "layers.*.linear2.bias", .from = "h.*.mlp.c_proj.bias"},
    {.name = "layers.*.norm1.*", .from = "h.*.ln_1.*"},
    {.name = "layers.*.norm2.*", .from = "h.*.ln_2.*"},
    {.name = "norm.*", .from = "ln_f.*"},
    {.from = "h.*.attn.bias"},
    {.from = "h.*.attn.masked_bias"},
    {.from = "lm_head.weight"}};
enum { RULES = sizeof rules / sizeof *rules };

/* Some files have all names behind "transformer.". */
static void name_rules(const qn_archive *archive, qn_load_rule *to, char (*names)[80]) {
    const char *before = qn_archive_find(archive, "transformer.wte.weight") ? "transformer." : "";
    for (int i = 0; i < RULES; i++) {
        to[i] = rules[i];
        snprintf(names[i], sizeof names[i], "%s%s", strcmp(rules[i].from, "lm_head.weight") ? before : "",
                 rules[i].from);
        to[i].from = names[i];
    }
}

/* All sizes are those of the file's arrays; heads are of 64 elements. */
static qn_status find_sizes(example *e, const qn_archive *archive, gpt_desc *desc) {
    const qn_host_array *tokens = qn_archive_find(archive, "wte.weight"),
                        *places = qn_archive_find(archive, "wpe.weight");
    if (!tokens) tokens = qn_archive_find(archive, "transformer.wte.weight");
    if (!places) places = qn_archive_find(archive, "transformer.wpe.weight");
    if (!tokens || !places || tokens->rank != 2 || places->rank != 2 || tokens->sizes[1] % 64)
        return qn_error_set(e->context, QN_ERROR_ARGUMENT,
                            "model.safetensors is none of GPT-2's: it has no wte and wpe");
    *desc = (gpt_desc){.vocabulary = tokens->sizes[0],
                       .size = tokens->sizes[1],
                       .heads = tokens->sizes[1] / 64,
                       .length = places->sizes[0]};
    for (char name[64]; desc->layers < GPT_LAYERS; desc->layers++) {
        snprintf(name, sizeof name, "h.%u.ln_1.weight", (unsigned)desc->layers);
        char longer[80];
        snprintf(longer, sizeof longer, "transformer.%s", name);
        if (!qn_archive_find(archive, name) && !qn_archive_find(archive, longer)) break;
    }
    return QN_OK;
}

static qn_status load(example *e, gpt *model) {
    char path[512], names[RULES][80];
    qn_load_rule named[RULES];
    qn_archive *archive;
    gpt_desc desc;
    snprintf(path, sizeof path, "%s/model.safetensors", e->input);
    qn_status status = qn_archive_open(e->context, path, NULL, &archive);
    if (status) return status;
    status = find_sizes(e, archive, &desc);
    if (!status) status = gpt_init(model, e->t, &desc);
    name_rules(archive, named, names);
    if (!status)
        status = qn_module_load(&model->module, archive, &(qn_load_desc){.rules = named, .num_rules = RULES});
    qn_archive_close(archive);
    if (!status)
        printf("%llu layers, %llu parameters, loaded after %.1f s\n", (unsigned long long)desc.layers,
               (unsigned long long)qn_module_count(&model->module), example_seconds(e));
    return status;
}

/* The prompt goes through the model token by token; then each token that comes out goes in again. */
static qn_status continue_text(example *e, gpt *model, const bpe *words, int *made) {
    static int32_t tokens[MOST_TOKENS];
    const char *prompt = e->text ? e->text : "The meaning of life is";
    const int more = e->quick ? FEW_TOKENS : NEW_TOKENS,
              room = model->desc.length < MOST_TOKENS ? (int)model->desc.length : MOST_TOKENS,
              count = bpe_encode(words, prompt, tokens, room),
              end = count + more < room ? count + more : room;
    uint64_t state = 1;
    float *scores = malloc(model->desc.vocabulary * sizeof *scores);
    if (count < 1 || !scores)
        return qn_error_set(e->context, QN_ERROR_ARGUMENT, "the text has no tokens, or too long words");
    qn_status status = gpt_begin(model, e->t);
    double begin = 0;
    for (int i = 0; i + 1 < end && !status; i++) {
        if (i == count) begin = example_seconds(e);
        status = gpt_scores(model, tokens[i], i, scores);
        if (i + 1 >= count)
            tokens[i + 1] = gpt_choose(scores, model->desc.vocabulary, e->quick ? 0 : 0.8, &state);
    }
    printf("----\n");
    for (int i = 0; i < end && !status; i++) bpe_write(words, tokens[i], stdout);
    printf("\n----\n");
    *made = end - count;
    if (!status && *made > 1) printf("%.1f tokens a second\n", (*made - 1) / (example_seconds(e) - begin));
    free(scores);
    return status;
}

int main(int argc, char **argv) {
    static gpt model;
    static bpe words;
    example e;
    int made = 0;
    example_open(&e, argc, argv, "gpt2", "FOLDER ");
    if (!e.input) {
        printf("It wants a folder with model.safetensors, vocab.json and merges.txt, as "
               "huggingface.co/openai-community/gpt2 has them.\n");
        example_close(&e, QN_OK, false);
        return 2;
    }
    qn_status status = load(&e, &model);
    if (!status && bpe_open(&words, e.input, (int32_t)model.desc.vocabulary))
        status = qn_error_set(e.context, QN_ERROR_IO, "the folder's vocab.json or merges.txt cannot be read");
    if (!status) status = continue_text(&e, &model, &words, &made);
    bpe_close(&words);
    if (model.module.tensors) gpt_release(&model);
    return example_close(&e, status, made > 0);
}
