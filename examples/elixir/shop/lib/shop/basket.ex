defmodule Shop.Basket do
  @moduledoc """
  The basket of a customer. It holds goods by a process on the Go node that it is linked to: if the basket ends, for
  whatever reason, the goods go back; if the Go node or the stock ends, so does the basket.
  """
  use GenServer, restart: :temporary

  @doc "Opens a basket: {:ok, pid}, {:error, :sold_out}, or {:error, reason} if the Go node cannot be reached."
  def open(item, count), do: DynamicSupervisor.start_child(Shop.Baskets, {__MODULE__, {item, count}})

  def start_link(goods), do: GenServer.start_link(__MODULE__, goods)

  @impl true
  def init({item, count}) do
    hold = Node.spawn_link(Shop.Stock.go(), :stock, :hold, [item, count])
    true = GenServer.call(hold, :held)
    {:ok, hold}
  catch
    # The hold has ended before it answered, with this reason.
    :exit, {reason, _} -> {:stop, reason}
  end
end
