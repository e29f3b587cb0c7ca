package attack
var flows, kernels, resources []row
