defmodule Shop.Stock do
  @moduledoc """
  The stock is a server on the Go node. This process monitors it, and connects again when it is back; the functions call
  it directly, as they would any GenServer.
  """
  use GenServer
  require Logger

  @again 200

  @doc "Takes goods: {:ok, left}, {:error, :sold_out}, or {:error, :away} if the Go node cannot be reached."
  def reserve(item, count), do: call({:reserve, item, count})

  @doc "How many are left."
  def level(item), do: call({:level, item})

  @doc "Whether the stock is there, and how often it has been."
  def state, do: GenServer.call(__MODULE__, :state)

  defp call(request) do
    # Go replies with a value, or with {:error, reason}.
    case GenServer.call({:stock, go()}, request) do
      {:error, reason} -> {:error, reason}
      left -> {:ok, left}
    end
  catch
    # Nobody knows whether a call that was lost has been handled: the caller decides whether to repeat it.
    :exit, _ -> {:error, :away}
  end

  def go, do: Application.fetch_env!(:shop, :go)

  def start_link(_), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @impl true
  def init(_) do
    {:ok, %{ref: nil, times: 0}, {:continue, :connect}}
  end

  @impl true
  def handle_continue(:connect, state), do: {:noreply, connect(state)}

  @impl true
  def handle_info(:connect, state), do: {:noreply, connect(state)}

  # The stock has crashed, its node has ended, or the connection is lost.
  def handle_info({:DOWN, ref, :process, _, reason}, %{ref: ref} = state) do
    Logger.warning("the stock is away: #{inspect(reason)}")
    {:noreply, connect(%{state | ref: nil})}
  end

  @impl true
  def handle_call(:state, _from, state), do: {:reply, {state.ref != nil, state.times}, state}

  # A monitor of a name on a node connects to the node.
  defp connect(state) do
    ref = Process.monitor({:stock, go()})

    case level("tea") do
      {:ok, _} ->
        Logger.info("the stock is there")
        %{state | ref: ref, times: state.times + 1}

      {:error, _} ->
        Process.demonitor(ref, [:flush])
        Process.send_after(self(), :connect, @again)
        state
    end
  end
end
