/**
 * How fast concurrent deliveries are acknowledged, compared with a minimal worker that only verifies the signature, on the same runtime in
 * the same run: each in its own session, and all in one. The product adds the stored delivery and the turns that run meanwhile: those of a
 * burst start after its responses, so a steady flow is measured beside its own turns. Then requests with a wrong signature, and a burst: how
 * many are accepted, asked to retry, run, lost and duplicated. `node bench/webhooks.ts [--quick]`
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Verdict, verdictLine } from './goals.ts';
import { countInputs, hookDelivery, hookSecret, untilSettled, type HookDelivery } from './hook-deliveries.ts';
import { load, median, prepare, type LoadResult, type Prepared } from './load.ts';
import { measure } from './process-usage.ts';
import { startServers, type Servers } from './servers.ts';
import { createApi, type Api } from './setup.ts';

const quick = process.argv.includes('--quick');
const effort = quick ? { rounds: 3, apart: 320, together: 96 } : { rounds: 5, apart: 640, together: 192 };
const connections = 32;
/** Well below the turns that one core can run, so that deliveries are answered while earlier ones run. */
const steady = { deliveries: quick ? 160 : 300, everyMs: 50 };
/** Below the number that the service accepts from one address in a minute. */
const refused = { warmUp: 100, count: 450 };
const burst = { deliveries: 500, sessions: 50 };
/** REL-12: GitHub hangs up after 10 s, Slack after 3. */
const mostMs = 2_000;
const mostRatio = 6;
const mostRefusedMs = 0.5;
const servers = await startServers();
process.once('SIGINT', () => void servers.stop().then(() => process.exit(130)));
try {
  const api = createApi(servers);
  const hook = { agent: 'hooked', scheme: 'github', secret: hookSecret, session: '{{thread}}', input: '{{issue.title}}' };
  await api.send('PUT', '/v1/agents/hooked', { model: 'rehearsal/default', instructions: 'Answer.' });
  for (const name of ['apart', 'together', 'steady', 'refused', 'burst']) await api.send('PUT', `/v1/webhooks/${name}`, hook);
  const bare = await servers.startBareHook();
  console.log(`Medians of ${effort.rounds} paired rounds, ${connections} at once, about 8 kB each. "x": ours over the bare worker.\n`);
  console.log('| sessions | deliveries | p50 ms bare | ours | x | p99 ms bare | ours | x | accepted/s ours |');
  console.log(`|${'---|'.repeat(9)}`);
  const pairs = [await compare(servers, api, bare.url, 'apart'), await compare(servers, api, bare.url, 'together')];
  const flow = await measureSteady(servers, api);
  const worst = Math.max(flow.p99, ...pairs.map(({ p99 }) => p99.ours));
  const ratio = Math.max(...pairs.map(({ p50 }) => p50.ratio));
  const refusal = await measureRefused(servers);
  const ran = await measureBurst(servers, api);
  const isWhole = ran.lost === 0 && ran.doubled === 0 && ran.failed === 0 && ran.accepted + ran.toldToComeBack >= burst.deliveries;
  const verdicts: Verdict[] = [
    {
      text: `acknowledged ${ratio.toFixed(2)} x the bare worker's time at ${connections} at once (at most ${mostRatio})`,
      holds: ratio <= mostRatio,
      required: false,
    },
    {
      text: `a wrong signature is refused in ${refusal.p50.toFixed(2)} ms p50 (at most ${mostRefusedMs}), with ${refusal.cpuUs.toFixed(0)} µs of CPU, one after the other`,
      holds: refusal.p50 <= mostRefusedMs,
      required: false,
    },
    { text: `acknowledged under load: p99 ${worst.toFixed(0)} ms at worst (at most ${mostMs})`, holds: worst < mostMs, required: true },
    {
      text:
        `a burst of ${burst.deliveries} over ${burst.sessions} sessions: ${ran.accepted} taken at once, ${ran.toldToComeBack} told to come back, ` +
        `${ran.turns} turns, ${ran.lost} lost, ${ran.doubled} doubled, ${ran.failed} failed; the slowest answer after ${ran.slowestMs.toFixed(0)} ms, all turns ended after ${(ran.endedMs / 1000).toFixed(1)} s`,
      holds: isWhole,
      required: true,
    },
  ];
  console.log(`\n${verdicts.map(verdictLine).join('\n')}`);
  if (verdicts.some(({ holds, required }) => required && !holds)) process.exitCode = 1;
} finally {
  await servers.stop();
}

type Pair = { bare: number; ours: number; ratio: number };

async function compare({ ours }: Servers, api: Api, bare: string, webhook: 'apart' | 'together') {
  const count = effort[webhook];
  const send = async (url: string, deliveries: readonly HookDelivery[]): Promise<LoadResult> => {
    const result = await load(
      deliveries.map((delivery) => toRequest(url, delivery)),
      { connections, ms: 60_000, sse: false, once: true },
    );
    if (result.bad + result.errors > 0 || result.answers !== count)
      throw new Error(`${url}: ${result.bad + result.errors} of ${count} were refused`);
    return result;
  };
  const deliveries = (round: number): HookDelivery[] =>
    Array.from({ length: count }, (_, index) => hookDelivery(webhook === 'apart' ? `${round}-${index}` : 'one'));
  const rounds: { bare: LoadResult; ours: LoadResult }[] = [];
  // The first one is for warming up.
  for (let round = 0; round <= effort.rounds; round++) {
    const sent = deliveries(round);
    const before = round % 2 === 0 ? await send(bare, sent) : null;
    const own = await send(`${ours.url}/hooks/default/${webhook}`, sent);
    await untilSettled(api, webhook);
    const pair = { bare: before ?? (await send(bare, sent)), ours: own };
    if (round > 0) rounds.push(pair);
  }
  const pairOf = (field: 'p50' | 'p99'): Pair => ({
    bare: median(rounds.map((round) => round.bare[field])),
    ours: median(rounds.map((round) => round.ours[field])),
    ratio: median(rounds.map((round) => round.ours[field] / round.bare[field])),
  });
  const result = {
    sessions: webhook,
    deliveries: count,
    p50: pairOf('p50'),
    p99: pairOf('p99'),
    perSecond: median(rounds.map((round) => round.ours.requestsPerSecond)),
  };
  const cells = [result.p50, result.p99].flatMap((pair) => [pair.bare, pair.ours, pair.ratio]).map((value) => value.toFixed(2));
  console.log(`| ${[webhook === 'apart' ? 'one each' : 'one', count, ...cells, result.perSecond.toFixed(0)].join(' | ')} |`);
  return result;
}

function toRequest(url: string, { body, headers }: HookDelivery): Prepared {
  return prepare(url, { headers, body });
}

/** One after the other at a steady pace, whatever the responses. */
async function measureSteady({ ours }: Servers, api: Api): Promise<{ p50: number; p99: number }> {
  const times: number[] = [];
  const send = async ({ body, headers }: HookDelivery): Promise<void> => {
    const at = performance.now();
    const url = `${ours.url}/hooks/default/steady`;
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
    const response = await fetch(url, init);
    await response.text();
    if (response.status !== 202) throw new Error(`a delivery of the steady flow: ${response.status}`);
    times.push(performance.now() - at);
  };
  const sent: Promise<void>[] = [];
  for (let index = 0; index < steady.deliveries; index++) {
    sent.push(send(hookDelivery(`steady-${index}`)));
    await sleep(steady.everyMs);
  }
  await Promise.all(sent);
  await untilSettled(api, 'steady');
  times.sort((one, other) => one - other);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN;
  const result = { p50: at(0.5), p99: at(0.99) };
  console.log(
    `\nsteady: ${1000 / steady.everyMs} a second beside their turns: p50 ${result.p50.toFixed(1)} ms, p99 ${result.p99.toFixed(1)} ms`,
  );
  return result;
}

/** One after the other: each is checked with the cached webhook, and with the stored one, which may be newer. */
async function measureRefused({ ours }: Servers): Promise<{ p50: number; cpuUs: number }> {
  const send = async (count: number): Promise<LoadResult> => {
    const requests = Array.from({ length: count }, () => {
      const { id, body, headers } = hookDelivery('refused');
      return toRequest(`${ours.url}/hooks/default/refused`, {
        id,
        body,
        headers: { ...headers, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
      });
    });
    const result = await load(requests, { connections: 1, ms: 60_000, sse: false, once: true, status: 404 });
    if (result.bad + result.errors > 0)
      throw new Error(`${result.bad + result.errors} of ${count} requests with a wrong signature were not refused with 404`);
    return result;
  };
  await send(refused.warmUp);
  const before = measure(ours.pid).cpuMs;
  const { p50, answers } = await send(refused.count);
  return { p50, cpuUs: ((measure(ours.pid).cpuMs - before) * 1000) / answers };
}

/** All at the same moment; those asked to retry do so, as senders do. */
async function measureBurst({ ours }: Servers, api: Api) {
  const sent = Array.from({ length: burst.deliveries }, (_, index) => hookDelivery(`burst-${index % burst.sessions}`));
  const started = performance.now();
  const counts = { accepted: 0, toldToComeBack: 0, slowestMs: 0 };
  const deliver = async ({ body, headers }: HookDelivery, isFirst = true): Promise<void> => {
    const at = performance.now();
    const response = await fetch(`${ours.url}/hooks/default/burst`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    counts.slowestMs = Math.max(counts.slowestMs, performance.now() - at);
    if (response.status === 202 && isFirst) counts.accepted += 1;
    if (response.status === 202) return;
    if (response.status !== 429) throw new Error(`a delivery of the burst: ${response.status} ${text}`);
    if (isFirst) counts.toldToComeBack += 1;
    await sleep(Number(response.headers.get('retry-after') ?? 1) * 1000);
    await deliver({ id: '', body, headers }, false);
  };
  await Promise.all(sent.map((delivery) => deliver(delivery)));
  const rows = await untilSettled(api, 'burst');
  const endedMs = performance.now() - started;
  const kept = new Map(rows.map((row) => [row.id, row]));
  const inputs = await countInputs(api, new Set(rows.flatMap(({ session }) => session ?? [])));
  return {
    ...counts,
    turns: inputs,
    lost: sent.filter(({ id }) => kept.get(id)?.turn == null).length,
    doubled: Math.max(0, rows.length - kept.size) + Math.max(0, inputs - burst.deliveries),
    failed: rows.filter(({ status }) => status !== 'completed').length,
    endedMs,
  };
}
