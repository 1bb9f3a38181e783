/** What every part of the service uses: time, ids, the log, and telemetry if it is on. */
import type { Settings } from '../core/people/settings.ts';
import type { WaitUntil } from './background.ts';
import { systemClock } from './clock.ts';
import { randomIds } from './ids.ts';
import { createLog } from './log.ts';
import { createTelemetry } from './telemetry.ts';

/** `send`: sends one request to an address that the operator set. */
export function createRuntime(
  { log: level, telemetry }: Pick<Settings, 'log' | 'telemetry'>,
  send: (request: Request) => Promise<Response>,
  background: WaitUntil,
) {
  const runtime = { clock: systemClock, ids: randomIds, log: createLog(level) };
  return { ...runtime, telemetry: createTelemetry(telemetry, { ...runtime, background, send }) };
}
