package migrate

// StartStepping is Start with a function that is called at each step of a move, and with the pause of a source in
// doubt.
var StartStepping = start
