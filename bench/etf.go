package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// These use no actors, so they ignore the style.
var (
	etfEncode = etfBench("etf_encode", "terms to bytes, as term_to_binary", runEtfEncode)
	etfDecode = etfBench("etf_decode", "bytes to terms, as binary_to_term", runEtfDecode)
)

func etfBench(name, about string, run func(contract.Params, *contract.Meter) error) contract.Bench {
	return contract.Bench{
		Name:   name,
		About:  about,
		Params: []contract.Param{contract.Word("term", "tuple", "list"), contract.Int("times", 1_000_000), contract.Style()},
		Ops:    func(p contract.Params) int { return p.Int("times") },
		Run:    run,
	}
}

// etfTimed runs body the requested number of times and meters it.
func etfTimed(p contract.Params, m *contract.Meter, body func() error) error {
	before := contract.CPU()
	m.Start()
	for range p.Int("times") {
		if err := body(); err != nil {
			return err
		}
	}
	m.Stop()
	m.Extra("cpu_ns_per_op", float64(contract.CPU()-before)/float64(p.Int("times")))
	return nil
}

// etfTerm is a small message, or a list of 10,000 integers.
func etfTerm(p contract.Params) any {
	if p.Word("term") == "list" {
		list := make(wire.List, 10_000)
		for i := range list {
			list[i] = i + 1
		}
		return list
	}
	data := make([]byte, 64)
	for i := range data {
		data[i] = byte(i + 1)
	}
	return wire.Tuple{wire.Atom("update"), wire.Atom("account"), 42, 1_000_000, data}
}

func runEtfEncode(p contract.Params, m *contract.Meter) error {
	term := etfTerm(p)
	var e etfcodec.Encoder
	var b []byte
	var err error
	bytes := 0
	err = etfTimed(p, m, func() (err error) {
		b, err = e.Append(b[:0], term)
		bytes += len(b)
		return err
	})
	if err != nil {
		return err
	}
	m.Extra("bytes_per_term", float64(len(b)))
	if bytes != p.Int("times")*len(b) {
		return fmt.Errorf("the encodings differ in length")
	}
	return etfSame(b, term)
}

func runEtfDecode(p contract.Params, m *contract.Meter) error {
	term := etfTerm(p)
	b, err := etf.Append(nil, term)
	if err != nil {
		return err
	}
	var d etfcodec.Decoder
	var last any
	err = etfTimed(p, m, func() (err error) {
		last, _, err = d.Decode(b)
		return err
	})
	if err != nil {
		return err
	}
	m.Extra("bytes_per_term", float64(len(b)))
	if !wire.Equal(last, term) {
		return fmt.Errorf("the term that comes out is not the one that went in")
	}
	return nil
}

func etfSame(b []byte, term any) error {
	got, _, err := etf.Decode(b)
	if err == nil && !wire.Equal(got, term) {
		err = fmt.Errorf("the bytes are not those of the term")
	}
	return err
}
