/* The functions that BridgeStan's Python package calls in a compiled Stan model, for `stan_stand_in.stan`.
 * `propto` drops constants, and `jacobian` adds the Jacobian of sigma = exp(z). */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int bs_major_version = 2, bs_minor_version = 9, bs_patch_version = 0;

static int fail(char **error, const char *text) {
    if (error) *error = strdup(text);
    return -1;
}

void *bs_model_construct(const char *data, unsigned seed, char **error) {
    (void)seed;
    if (strstr(data, "bad")) {
        fail(error, "the data is bad");
        return NULL;
    }
    return malloc(1);
}
void bs_model_destruct(void *model) { free(model); }
void bs_free_error_msg(char *text) { free(text); }
int bs_set_print_callback(void *callback, char **error) { (void)callback, (void)error; return 0; }
const char *bs_name(void *model) { (void)model; return "stand_in"; }
const char *bs_model_info(void *model) { (void)model; return "a stand-in"; }
int bs_param_unc_num(void *model) { (void)model; return 3; }
int bs_param_num(void *model, bool tp, bool gq) { (void)model; return 3 + 2 * tp + gq; }
const char *bs_param_unc_names(void *model) { (void)model; return "mu,sigma.1,sigma.2"; }

const char *bs_param_names(void *model, bool tp, bool gq) {
    (void)model;
    if (tp && gq) return "mu,sigma.1,sigma.2,twice.1,twice.2,draw";
    if (tp) return "mu,sigma.1,sigma.2,twice.1,twice.2";
    return gq ? "mu,sigma.1,sigma.2,draw" : "mu,sigma.1,sigma.2";
}

int bs_param_constrain(void *model, bool tp, bool gq, const double *z, double *theta, void *rng, char **error) {
    (void)model, (void)error;
    theta[0] = z[0], theta[1] = exp(z[1]), theta[2] = exp(z[2]);
    double *next = theta + 3;
    if (tp) *next++ = 2 * theta[1], *next++ = 2 * theta[2];
    if (gq) *next = z[0] + rand_r((unsigned *)rng) / (RAND_MAX + 1.0);
    return 0;
}

int bs_log_density_gradient(void *model, bool propto, bool jacobian, const double *z, double *value,
                            double *slope, char **error) {
    (void)model;
    if (z[0] > 100) return fail(error, "mu is too large");
    double rate[2] = {1, 3}, r = (z[0] - 1) / 2;
    *value = -r * r / 2 + (propto ? 0 : -log(2) - log(2 * acos(-1)) / 2);
    slope[0] = -r / 2;
    for (int i = 0; i < 2; i++) {
        double sigma = exp(z[i + 1]);
        *value += -rate[i] * sigma + (propto ? 0 : log(rate[i])) + (jacobian ? z[i + 1] : 0);
        slope[i + 1] = -rate[i] * sigma + jacobian;
    }
    return 0;
}

int bs_log_density(void *model, bool propto, bool jacobian, const double *z, double *value, char **error) {
    double slope[3];
    return bs_log_density_gradient(model, propto, jacobian, z, value, slope, error);
}

void *bs_rng_construct(unsigned seed, char **error) {
    (void)error;
    unsigned *rng = malloc(sizeof *rng);
    *rng = seed;
    return rng;
}
void bs_rng_destruct(void *rng) { free(rng); }

/* The package looks up these symbols, but the tests do not call them. */
int bs_param_unconstrain(void) { return -1; }
int bs_param_unconstrain_json(void) { return -1; }
int bs_param_initialize(void) { return -1; }
int bs_log_density_hessian(void) { return -1; }
int bs_log_density_hessian_vector_product(void) { return -1; }
