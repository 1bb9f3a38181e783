/** The limiter, loaded when something has limits (`limit-counters.ts`). */
import type { Limiter } from '../../../ports/limiter.ts';
import type { LimiterDeps } from './limit-counter-client.ts';

export function createLazyLimiter(deps: LimiterDeps): Limiter {
  let loaded: Limiter | null = null;
  const load = async (): Promise<Limiter> => {
    const { createLimiter } = await import('./limit-counters.ts');
    // One for all who wait: it has the leases of this isolate.
    loaded ??= createLimiter(deps);
    return loaded;
  };
  const unlimited = { settle: () => undefined };
  return {
    countRequest: async (workspace, holders) => void (holders.length > 0 && (await (await load()).countRequest(workspace, holders))),
    status: (workspace, holders) => loaded?.status(workspace, holders) ?? [],
    reserveCall: async (workspace, holders, estimate) =>
      holders.length > 0 ? await (await load()).reserveCall(workspace, holders, estimate) : unlimited,
    reserveCost: async (workspace, holders, cost) =>
      holders.length > 0 ? await (await load()).reserveCost(workspace, holders, cost) : undefined,
    spendSandboxSeconds(workspace, holders, seconds) {
      if (loaded !== null) loaded.spendSandboxSeconds(workspace, holders, seconds);
      else if (seconds > 0 && holders.length > 0)
        deps.background(load().then((limiter) => limiter.spendSandboxSeconds(workspace, holders, seconds)));
    },
    requireSandboxSeconds: async (workspace, holders) =>
      void (holders.length > 0 && (await (await load()).requireSandboxSeconds(workspace, holders))),
    startTurn: async (workspace, holders, turn, options) =>
      void (holders.length > 0 && (await (await load()).startTurn(workspace, holders, turn, options))),
    endTurn: async (workspace, holders, turn) => void (holders.length > 0 && (await (await load()).endTurn(workspace, holders, turn))),
    requireStorage: async (workspace, holders) => void (holders.length > 0 && (await (await load()).requireStorage(workspace, holders))),
    reportStorage: async (workspace, holders, session, bytes) =>
      void (holders.length > 0 && (await (await load()).reportStorage(workspace, holders, session, bytes))),
    charge: async (workspace, reports) =>
      void (reports.some(({ budgets }) => budgets !== undefined) && (await (await load()).charge(workspace, reports))),
    uses: async (workspace, holders) => (holders.length > 0 ? await (await load()).uses(workspace, holders) : []),
  };
}
