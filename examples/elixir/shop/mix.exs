defmodule Shop.MixProject do
  use Mix.Project

  def project do
    [app: :shop, version: "0.1.0", elixir: "~> 1.14", start_permanent: Mix.env() == :prod, deps: []]
  end

  def application do
    [extra_applications: [:logger], mod: {Shop.Application, []}, env: [go: :"go@127.0.0.1"]]
  end
end
