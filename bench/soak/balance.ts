/** The end of a soak: compares what was sent with what the service and the upstream have counted. Anything lost or doubled is a verdict that fails. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Verdict } from '../goals.ts';
import { countInputs, untilSettled, type DeliveryRow } from '../hook-deliveries.ts';
import type { Server, Servers } from '../servers.ts';
import { createApi, type Api } from '../setup.ts';
import type { Ledger } from './ledger.ts';
import { webhooks } from './work.ts';

/** Usage is sent in the background, within seconds. */
const usageWaitMs = 60_000;
/** The largest page of events. */
const page = 500;

export async function balance(servers: Servers, upstream: Server, ledger: Ledger): Promise<Verdict[]> {
  const api = createApi(servers);
  const required = (text: string, holds: boolean): Verdict => ({ text, holds, required: true });
  const deliveries = await settledDeliveries(api);
  const found = checkDeliveries(ledger, deliveries);
  const inputs = await countInputs(api, new Set(deliveries.flatMap(({ session }) => session ?? [])));
  const counted = await usageOf(api, ledger.chats);
  const called = (await (await fetch(`${upstream.url}/counts`)).json()) as Record<string, number>; // our own upstream's response
  const sessions = await checkSessions(api, ledger);
  return [
    required(
      `${ledger.failed} units of work failed${ledger
        .failures()
        .map((text) => `; ${text}`)
        .join('')}`,
      ledger.failed === 0,
    ),
    required(`${ledger.chats} model requests answered, ${counted} in \`GET /v1/usage\``, counted === ledger.chats),
    required(
      `${ledger.toolCalls} tool calls, ${called['tools/call'] ?? 0} at the upstream server`,
      called['tools/call'] === ledger.toolCalls,
    ),
    required(
      `${ledger.deliveries.size} deliveries accepted (${ledger.retried} asked to retry before), ${inputs} turns, ${found.lost} lost, ${found.doubled} doubled, ${found.failed} not completed`,
      found.lost + found.doubled + found.failed === 0 && inputs === ledger.deliveries.size,
    ),
    required(
      `${sessions.turns} turns in ${ledger.turns.size} sessions, ${sessions.events} events: ${sessions.gaps} sessions with a gap in their numbers, ${sessions.wrong} with missing or additional turns or calls`,
      sessions.gaps + sessions.wrong === 0,
    ),
  ];
}

async function settledDeliveries(api: Api): Promise<DeliveryRow[]> {
  const all: DeliveryRow[] = [];
  for (const webhook of webhooks) all.push(...(await untilSettled(api, webhook)));
  return all;
}

function checkDeliveries(ledger: Ledger, rows: readonly DeliveryRow[]): { lost: number; doubled: number; failed: number } {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const turns = rows.flatMap(({ turn }) => turn ?? []);
  return {
    lost: [...ledger.deliveries.keys()].filter((id) => byId.get(id)?.turn == null).length,
    doubled: rows.length - byId.size + (turns.length - new Set(turns).size),
    failed: rows.filter(({ status }) => status !== 'completed').length,
  };
}

/** The model calls of the mock providers, once they are as many as expected or the wait is over. */
async function usageOf(api: Api, expected: number): Promise<number> {
  const deadline = performance.now() + usageWaitMs;
  for (;;) {
    const { items } = await api.send<{ items: { provider?: string; calls: number }[] }>('GET', '/v1/usage?by=provider');
    const calls = items.filter(({ provider }) => provider?.startsWith('mock')).reduce((sum, row) => sum + row.calls, 0);
    if (calls >= expected || performance.now() > deadline) return calls;
    await sleep(500);
  }
}

type Event = { id: number; type: string };

async function checkSessions(api: Api, ledger: Ledger): Promise<{ events: number; turns: number; gaps: number; wrong: number }> {
  const sums = { events: 0, turns: 0, gaps: 0, wrong: 0 };
  for (const [id, turns] of ledger.turns) {
    const events = await eventsOf(api, id);
    const count = (type: string): number => events.filter((event) => event.type === type).length;
    sums.events += events.length;
    sums.turns += turns;
    if (events.some((event, index) => event.id !== index + 1)) sums.gaps++;
    if ([count('turn-start'), count('turn-end'), count('tool-result')].some((found) => found !== turns)) sums.wrong++;
  }
  return sums;
}

async function eventsOf(api: Api, session: string): Promise<Event[]> {
  const events: Event[] = [];
  for (;;) {
    const more = await api.send<{ items: Event[]; lastEvent: number }>(
      'GET',
      `/v1/sessions/${session}/events?follow=false&after=${events.at(-1)?.id ?? 0}&limit=${page}`,
    );
    events.push(...more.items);
    if (more.items.length === 0 || (events.at(-1)?.id ?? 0) >= more.lastEvent) return events;
  }
}
