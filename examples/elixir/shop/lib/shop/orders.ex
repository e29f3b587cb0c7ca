defmodule Shop.Orders do
  @moduledoc "Takes orders of the Go node: a GenServer that Go calls by its name."
  use GenServer

  @doc "The goods that have been ordered, the latest first."
  def all, do: GenServer.call(__MODULE__, :all)

  def start_link(_), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @impl true
  def init(_), do: {:ok, []}

  @impl true
  def handle_call(:ping, _from, orders), do: {:reply, :pong, orders}
  def handle_call(:all, _from, orders), do: {:reply, orders, orders}

  # A string of Go is a binary here, as Elixir's own are.
  def handle_call({:order, item, _left}, _from, orders) when is_binary(item) do
    {:reply, length(orders) + 1, [item | orders]}
  end
end
