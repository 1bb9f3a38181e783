/**
 * Adds the bodies of a request and of its response to the report of its meter, if the workspace's settings ask for them. The response passes
 * through while it is copied, up to a limit; nothing waits for the copy.
 */
import { limits } from '../../core/limits/limits.ts';
import type { Redaction } from '../../core/redaction/redaction.ts';
import type { TextRedactor } from '../../core/redaction/redact-text.ts';
import { redactText } from '../call/redact.ts';
import type { RequestBodies } from '../../core/records/usage.ts';
import type { Directory } from '../../ports/directory.ts';
import type { UsageRecorder } from '../../ports/usage.ts';
import { withTimeout } from '../timeout.ts';
import type { MeterDeps } from './call-meter.ts';

type BodyLogDeps = MeterDeps & {
  directory: Pick<Directory, 'workspaceSettings'>;
  background?: ((work: Promise<unknown>) => void) | undefined;
  /** Compiles redaction rules. Absent: bodies that need them are not logged. */
  redactor?: ((redaction: Redaction) => Promise<TextRedactor>) | undefined;
};

export type BodyLog = {
  /** For the meter of the request. */
  usage: Pick<UsageRecorder, 'gather'> | undefined;
  /** Returns the response for the client. */
  watch(response: Response): Promise<Response>;
  /** The request failed, so there is no response to wait for. */
  fail(): void;
};

/** The settings are read while the provider responds; a response waits at most this long for them. */
const settingsWaitMs = 1_000;

/** `readRequest`: the text of the request; null if it is binary. Called only if it is logged. */
export function startBodyLog(deps: BodyLogDeps, workspace: string, readRequest: () => string | null): BodyLog {
  const { usage: recorder, clock, directory, background = () => undefined } = deps;
  if (recorder === undefined) return { usage: undefined, watch: async (response) => response, fail: () => undefined };
  let isLogged: boolean | null = null;
  const decide = (value: boolean): boolean => (isLogged ??= value);
  let redaction: Redaction | null = null;
  const decided = directory.workspaceSettings(workspace).then(
    (settings) => {
      redaction = settings.redaction?.logs === true ? settings.redaction : null;
      return decide(settings.requestLog.bodies && (redaction === null || deps.redactor !== undefined));
    },
    () => decide(false),
  );
  const ended = Promise.withResolvers<void>();
  const copy = createCopy();

  const readBodies = async (): Promise<RequestBodies> => {
    const [request, response] = [readRequest(), copy.text()];
    const redact = redaction === null ? null : ((await deps.redactor?.(redaction)) ?? null);
    return {
      request: request === null ? null : await cut(request, redact, clock),
      response: response === null ? null : await cut(response, redact, clock),
      truncated: Math.max(request?.length ?? 0, response?.length ?? 0) > limits.maxLoggedBodyCharacters,
    };
  };
  return {
    usage: {
      gather(of, report) {
        if (isLogged === false) return recorder.gather(of, report);
        const gathered = decided.then(async (logged) => {
          if (!logged) return recorder.gather(of, report);
          await withTimeout(clock, ended.promise, limits.providerWholeTimeoutMs, () => undefined);
          recorder.gather(of, { ...report, bodies: await readBodies() });
        });
        background(gathered);
      },
    },
    async watch(response) {
      const logged = isLogged ?? (await withTimeout(clock, decided, settingsWaitMs, () => decide(false)));
      const { body, headers } = response;
      if (logged && body !== null && isText(headers.get('content-type')))
        return new Response(
          copyThrough(body, copy.push, () => ended.resolve()),
          response,
        );
      ended.resolve();
      return response;
    },
    fail: ended.resolve,
  };
}

/** Audio and images are not logged. */
function isText(type: string | null): boolean {
  return /^(?:text\/|application\/(?:json|x-ndjson))/i.test(type ?? '');
}

/** Redacts before the text is cut, since a rule may not recognize the beginning of what it replaces. */
async function cut(text: string, redact: TextRedactor | null, clock: MeterDeps['clock']): Promise<string> {
  const start = text.slice(0, maxCopiedCharacters);
  const shown = redact === null ? start : await redactText(start, redact, clock);
  return shown.slice(0, limits.maxLoggedBodyCharacters).toWellFormed();
}

/** A little more than what is stored: the length of what a rule replaces. */
const maxCopiedCharacters = limits.maxLoggedBodyCharacters + 4_096;

/** Collects the beginning of a text, a little more than the limit. `text`: null if nothing arrived. */
function createCopy() {
  const decoder = new TextDecoder();
  let text: string | null = null;
  return {
    push(bytes: Uint8Array): void {
      if ((text?.length ?? 0) <= maxCopiedCharacters) text = (text ?? '') + decoder.decode(bytes, { stream: true });
    },
    text: () => text,
  };
}

/** `end`: whether the body ended by itself. */
export function copyThrough(
  body: ReadableStream<Uint8Array>,
  push: (bytes: Uint8Array) => void,
  end: (isWhole: boolean) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            push(value);
            return controller.enqueue(value);
          }
          end(true);
          controller.close();
        } catch (error) {
          end(false);
          throw error;
        }
      },
      async cancel(reason) {
        end(false);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
