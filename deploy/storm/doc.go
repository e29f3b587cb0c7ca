// Package storm has real OTP nodes judge package global.
package storm
