// Package globalcalls has the functions of OTP's module global that a published node has for others, who call them by rpc, and
// for the resolution of clashes; and those of other modules that bring a node into a cluster or out of it: net_adm:ping,
// net_kernel:connect_node, erlang:disconnect_node, and what global_group asks.
//
// Nouns: an [Exporter] is the node. Functions are called by [Apply] with terms, and answer as those of OTP do.
//
// set_lock, del_lock and trans are not among them: a lock would belong to the process of the call, and end with it.
//
// It has no goroutines.
package globalcalls
