/**
 * Removes the secret values that a call has read from everything it returns, in the forms of an accident (`core/redaction/secret-spellings.ts`), before
 * it is stored or logged. Only values that were read are searched for, so most calls cost nothing. Then applies the redaction rules of the
 * workspace, if it has any. The work is counted (`core/redaction/redaction-work.ts`): results are redacted in slices, so that other requests
 * run meanwhile, and what exceeds the bound is withheld.
 */
import { ServerRpcError } from '../mcp/rpc-error.ts';
import type { TextRedactor } from '../../core/redaction/redact-text.ts';
import { RedactionLimitReached, RedactionWork, runAtOnce, runInSlices } from '../../core/redaction/redaction-work.ts';
import { searchedValues, secretMark, secretRedactor } from '../../core/redaction/secret-matcher.ts';
import { type ContentBlock, errorResult } from '../../core/tools/tool.ts';
import { limits } from '../../core/limits/limits.ts';
import { KB } from '../../core/limits/units.ts';
import { Problem } from '../../core/problem.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { ComputeMeter } from '../../ports/sandbox.ts';
import type { ToolOutcome } from '../../ports/tool-executor.ts';
import type { ServerTokens } from '../../ports/upstream.ts';

export type Redactor = ReturnType<typeof createRedactor>;

/** The rules of the workspace; null: none apply. */
export type RedactionRules = { results: TextRedactor | null; logs: TextRedactor | null };

/** `clock`: for the pauses between slices. `compute`: what the work counts for. */
type RedactorDeps = { clock: Pick<Clock, 'now' | 'sleep'>; compute?: ComputeMeter | null };

export function createRedactor({ clock, compute }: RedactorDeps, rules: RedactionRules | null = null) {
  const values = new Set<string>();
  let secrets: TextRedactor | null = null;
  const hasNoWork = (redact: TextRedactor | null | undefined): boolean => secrets === null && redact == null;
  const hideSecrets = function* <Value>(value: Value, work: RedactionWork): Generator<void, Value> {
    const redact = secrets;
    return redact === null ? value : yield* cleanMember(value, (texts) => mapTexts(texts, redact, work));
  };
  const hide = function* <Value>(value: Value, work: RedactionWork): Generator<void, Value> {
    const [clean, redact] = [yield* hideSecrets(value, work), rules?.results];
    return redact == null ? clean : yield* cleanMember(clean, (texts) => mapTexts(texts, redact, work));
  };
  const hideResult = function* (result: ToolOutcome, work: RedactionWork): Generator<void, ToolOutcome> {
    const { content, structuredContent, issues, meta, protocolError, input } = result;
    const blocks = secrets === null ? content : yield* cleanMedia(content, secrets, work);
    return {
      ...result,
      content: yield* hide(blocks, work),
      ...(structuredContent !== undefined && { structuredContent: yield* hide(structuredContent, work) }),
      ...(issues && { issues: yield* hide(issues, work) }),
      ...(meta && { meta: yield* hide(meta, work) }),
      ...(protocolError && { protocolError: yield* hide(protocolError, work) }),
      ...(input && { input: { ...input, requests: yield* hide(input.requests, work) } }),
    };
  };
  const redactInSlices = async <Value>(
    steps: (work: RedactionWork) => Generator<void, Value>,
    withhold: (why: string) => Value,
  ): Promise<Value> => {
    const work = new RedactionWork();
    try {
      return await runInSlices(steps(work), work, clock);
    } catch (error) {
      if (error instanceof RedactionLimitReached) return withhold(`${error.message}. ${advice}`);
      throw error;
    } finally {
      compute?.spend(work.seconds);
    }
  };
  const hideAtOnce = <Value>(value: Value, redact: TextRedactor | null | undefined): Value => {
    if (hasNoWork(redact)) return value;
    const work = RedactionWork.atOnce();
    const short = noticesForLong(value);
    const clean = runAtOnce(hideSecrets(short, work));
    const redacted = redact == null ? clean : mapAtOnce(clean, (text) => withNoticeOnError(() => runAtOnce(redact(text, work))));
    compute?.spend(work.seconds);
    return redacted;
  };
  const data = <Value>(value: Value): Value => hideAtOnce(value, rules?.results);
  return {
    /** Adds a secret value to remove, and returns it. */
    addSecret(value: string): string {
      values.add(value);
      const searched = searchedValues(values, limits.minRedactedSecretLength);
      secrets = searched.length === 0 ? null : secretRedactor(searched);
      return value;
    },
    /** Redacts a tool result. Returns an error in place of a result that cannot be redacted within the bound. */
    async result(result: ToolOutcome): Promise<ToolOutcome> {
      if (hasNoWork(rules?.results)) return result;
      const withhold = (why: string): ToolOutcome => errorResult('result_withheld', `The tool has run, but its result is withheld: ${why}`);
      return await redactInSlices((work) => hideResult(result, work), withhold);
    },
    /** Redacts all texts in a value, keeping its shape. Throws `upstream_error` if that exceeds the bound. `what`: the value, as in "The prompt". */
    async content<Value>(value: Value, what: string): Promise<Value> {
      if (hasNoWork(rules?.results)) return value;
      return await redactInSlices(
        (work) => hide(value, work),
        (why) => {
          throw new Problem('upstream_error', `${what} is withheld: ${why}`);
        },
      );
    },
    /** Redacts short texts at once. A notice replaces a text for which that would take too long. */
    text: (text: string): string => data(text),
    data,
    /** Wraps a log: removes the values that are known when a line is written, at once. */
    log(log: Logger): Logger {
      const cleaned = (write: Logger['info']): Logger['info'] => {
        return (message, fields) => write(hideAtOnce(message, rules?.logs), fields && hideFields(fields));
      };
      // Each on its own: one that takes too long does not hide the others.
      const hideFields = (fields: Record<string, unknown>): Record<string, unknown> =>
        Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, hideAtOnce(field, rules?.logs)]));
      return {
        error: cleaned((message, fields) => log.error(message, fields)),
        info: cleaned((message, fields) => log.info(message, fields)),
        debug: cleaned((message, fields) => log.debug(message, fields)),
      };
    },
  };
}

const advice = 'Ask for less data. An administrator can simplify the rules: settings.redaction of the workspace.';

/** Characters of a value that are redacted at once. */
const maxCharactersAtOnce = 64 * KB;

/** Replaces the longest texts by notices, so that the others can be redacted at once. */
function noticesForLong<Value>(value: Value): Value {
  let left = maxCharactersAtOnce;
  return mapAtOnce(value, (text) => {
    left -= text.length;
    return left >= 0 ? text : `[withheld: a text of ${text.length} characters is too long to be redacted here]`;
  });
}

/** Maps the shortest texts first: of a value that takes too long, they are redacted, and the longest ones are replaced by notices. */
function mapAtOnce<Value>(value: Value, map: (text: string) => string): Value {
  const mapped = function* (texts: string[]): Generator<void, string[]> {
    const clean = [...texts];
    const shortestFirst = [...texts.entries()].sort(([, one], [, other]) => one.length - other.length);
    for (const [index, text] of shortestFirst) clean[index] = map(text);
    return isSame(clean, texts) ? texts : clean;
  };
  return runAtOnce(cleanMember(value, mapped));
}

/** Applies rules to one text in slices. Returns a notice in place of a text for which that exceeds the bound. */
export async function redactText(text: string, redact: TextRedactor, clock: Pick<Clock, 'now' | 'sleep'>): Promise<string> {
  const work = new RedactionWork();
  return await runInSlices(redact(text, work), work, clock).catch(toNotice);
}

function withNoticeOnError(redact: () => string): string {
  try {
    return redact();
  } catch (error) {
    return toNotice(error);
  }
}

function toNotice(error: unknown): string {
  if (error instanceof RedactionLimitReached) return `[withheld: ${error.message}]`;
  throw error;
}

/** Redacts a problem: its detail may contain a server's own text, which may repeat what it was sent. */
export function redactProblem(error: unknown, { text, data }: Pick<Redactor, 'text' | 'data'>): unknown {
  if (!(error instanceof Problem)) return error;
  const cause = error.cause instanceof ServerRpcError ? new ServerRpcError(data(error.cause.rpc)) : error.cause;
  return new Problem(error.code, text(error.detail), data({ ...error.extra }), { cause });
}

/**
 * Redacts every text in a value, including member names, and keeps its shape. A number that spells a secret is replaced.
 */
function* cleanMember<Value>(value: Value, clean: (texts: string[]) => Generator<void, string[]>): Generator<void, Value> {
  const [values, names]: [string[], string[]] = [[], []];
  collect(value, values, names);
  // Names first: what takes too long is more likely a value.
  const [cleanNames, cleanValues] = [yield* clean(names), yield* clean(values)];
  // Texts are replaced by texts, so the type stays the same.
  return cleanValues === values && cleanNames === names ? value : (rebuild(value, cleanValues.values(), cleanNames.values()) as Value);
}

/** Collects texts in the order in which `rebuild` consumes them. */
function collect(value: unknown, values: string[], names: string[]): void {
  if (typeof value === 'string' || typeof value === 'number') values.push(String(value));
  else if (Array.isArray(value)) for (const item of value) collect(item, values, names);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      names.push(name);
      collect(member, values, names);
    }
}

function rebuild(value: unknown, values: Iterator<string>, names: Iterator<string>): unknown {
  if (typeof value === 'string') return values.next().value;
  if (typeof value === 'number') {
    const text = values.next().value;
    return text === String(value) ? value : text;
  }
  if (Array.isArray(value)) return value.map((item) => rebuild(item, values, names));
  if (typeof value !== 'object' || value === null) return value;
  const distinct = createDistinctNames();
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [distinct(nameOf(name, names)), rebuild(member, values, names)]));
}

/** Two names may become the same label: later ones are numbered, so that no member is lost. */
function createDistinctNames(): (name: string) => string {
  const uses = new Map<string, number>();
  return (name) => {
    const count = (uses.get(name) ?? 0) + 1;
    uses.set(name, count);
    if (count === 1) return name;
    const numbered = `${name} ${count}`;
    uses.set(numbered, 1);
    return numbered;
  };
}

function nameOf(name: string, names: Iterator<string>): string {
  const next = names.next();
  return next.done === true ? name : next.value;
}

/** Returns the same array if nothing was found. */
function* mapTexts(texts: string[], redact: TextRedactor, work: RedactionWork): Generator<void, string[]> {
  const clean: string[] = [];
  for (const text of texts) clean.push(yield* redact(text, work));
  return isSame(clean, texts) ? texts : clean;
}

function isSame(texts: readonly string[], before: readonly string[]): boolean {
  return texts.every((text, index) => text === before[index]);
}

/** Replaces images and sounds whose data has a secret: without it, the rest could not be decoded. */
function* cleanMedia(content: readonly ContentBlock[], redact: TextRedactor, work: RedactionWork): Generator<void, ContentBlock[]> {
  const blocks: ContentBlock[] = [];
  for (const block of content) {
    const isMedia = block.type === 'image' || block.type === 'audio';
    const isClean = !isMedia || (yield* redact(block.data, work)) === block.data;
    blocks.push(isClean ? block : { type: 'text', text: secretMark });
  }
  return blocks;
}

/** Registers a server's tokens with the redactor, which removes them from what the server returns. Used by calls of servers and by listings. */
export function withRedactedTokens(tokens: ServerTokens, redactor: Pick<Redactor, 'addSecret'>): ServerTokens {
  return {
    ...tokens,
    async token() {
      const token = await tokens.token();
      return token === null ? null : redactor.addSecret(token);
    },
  };
}
