// Package otp answers OTP's own tools.
package otp
