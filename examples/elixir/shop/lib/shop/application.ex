defmodule Shop.Application do
  @moduledoc "The tree of the shop. No child needs another one's state: one for one."
  use Application

  @impl true
  def start(_type, _args) do
    children = [
      Shop.Orders,
      Shop.Stock,
      {DynamicSupervisor, name: Shop.Baskets}
    ]

    Supervisor.start_link(children, strategy: :one_for_one, name: Shop.Supervisor)
  end
end
