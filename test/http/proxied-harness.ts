/** The app over fakes, with providers: chats without server tools and session take the real way to the fakes of providers' APIs. */
import type { UsageReport } from '../../src/core/records/usage.ts';
import type { Provider } from '../../src/core/model/provider.ts';
import type { OutboundHttp } from '../../src/ports/outbound.ts';
import { createChatModel } from '../../src/providers/chat-model.ts';
import { createModelRequests, type ModelRequests } from '../../src/providers/model-requests.ts';
import { countedIds, fakeClock, keptLog } from '../fakes/runtime.ts';
import type { FakeUpstream } from '../fakes/upstreams/upstream.ts';
import { createHarness, type Harness } from './harness.ts';

/** By the provider's name, which its default base URL has as its host. */
export type ProxiedProviders = Readonly<Record<string, Provider & { upstream: Pick<FakeUpstream, 'handle'> }>>;

type ProxiedHarness = Harness & { proxyClock: ReturnType<typeof fakeClock>; reports: UsageReport[]; proxyLog: ReturnType<typeof keptLog> };

export async function createProxiedHarness(providers: ProxiedProviders): Promise<ProxiedHarness> {
  let requests: ModelRequests | null = null;
  const reports: UsageReport[] = [];
  const proxyLog = keptLog();
  const harness = createHarness(
    {},
    {
      proxyChat: async (principal, chat) => await (requests as ModelRequests).proxyChat(principal, chat),
      passRequest: async (principal, request) => await (requests as ModelRequests).passRequest(principal, request),
    },
  );
  const outbound: OutboundHttp = async (request) => {
    const found = providers[new URL(request.url).hostname.split('.')[0] ?? ''];
    if (found === undefined) throw new Error(`no provider has ${request.url}`);
    return await found.upstream.handle(request);
  };
  const clock = fakeClock();
  requests = createModelRequests({
    ...{ directory: harness.catalog.directory, outbound, clock, ids: countedIds(), log: proxyLog },
    model: createChatModel({ http: outbound, rehearsal: outbound, clock }),
    kept: harness.services.keptReplies,
    usage: { gather: (_workspace, report) => void reports.push(report) },
    fileIds: { seal: async () => '', open: async () => null },
    // Nothing is made at these providers.
    items: () => ({ noteProviderItems: async () => [], providerItems: async () => null }),
    recordUsage: async () => undefined,
  });
  for (const [name, { upstream: _upstream, ...document }] of Object.entries(providers)) {
    const written = { baseUrl: `https://${name}.example/v1`, apiKey: `key-of-${name}`, ...document };
    const { status } = await harness.send('PUT', `/v1/providers/${name}`, written);
    if (status !== 201) throw new Error(`PUT /v1/providers/${name} returned ${status}`);
  }
  return Object.assign(harness, { proxyClock: clock, proxyLog, reports });
}
