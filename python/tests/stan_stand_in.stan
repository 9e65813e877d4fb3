parameters {
  real mu;
  vector<lower=0>[2] sigma;
}
transformed parameters {
  vector[2] twice = 2 * sigma;
}
model {
  mu ~ normal(1, 2);
  sigma[1] ~ exponential(1);
  sigma[2] ~ exponential(3);
  if (mu > 100) reject("mu is too large");
}
generated quantities {
  real draw = mu + uniform_rng(0, 1);
}
