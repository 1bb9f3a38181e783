/**
 * Marks for the taint rule (`core/taint.ts`), made where it happens, beneath every tool: a file that the conversation was given is read, a
 * request is answered, a tool's result came with credentials or from a server that is not trusted. What asks is the policy, by `taintFor`.
 */
import type { EditionTool } from '../../core/edition-tool.ts';
import type { Effect } from '../../core/policy-effect.ts';
import { requestHost } from '../../core/policy/host.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { createTaintMarks, joinTaint, originOfHost, originOfServer, type Taint, type TaintMarks } from '../../core/taint.ts';
import { believesAnnotations } from '../../core/tool-effects.ts';
import type { ToolResult } from '../../core/tool.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { guardFiles } from './guard-files.ts';
import { isServed } from '../served-tool.ts';

/**
 * The capabilities of a running tool, with what comes through them marked. The call's own marks count from the moment they are made, and are the
 * conversation's once it has run: of one that had to ask nothing was seen, and it begins anew. What calls beneath it see, it has seen.
 */
export class TaintWatch {
  readonly #kept: TaintMarks;
  readonly #own = createTaintMarks();
  readonly #tool: EditionTool;
  /** Those that led on to others included. */
  readonly #hosts = new Set<string>();
  #secret: string | null = null;

  /** `kept`: of the conversation. `keyId`: the key that calls. */
  constructor(kept: TaintMarks, tool: EditionTool, keyId: string) {
    this.#kept = kept;
    this.#tool = tool;
    markForeignText(this.#own, [tool], keyId);
  }

  /** What the call is judged by, and the calls beneath it. */
  get marks(): TaintMarks {
    return {
      read: () => joinTaint(this.#kept.read(), this.#own.read()),
      mark: (label, by, origin) => this.#kept.mark(label, by, origin),
    };
  }

  usedSecret(name: string): void {
    this.#secret ??= name;
  }

  /** At each address that a request of the tool goes to. */
  reached(to: URL): void {
    this.#hosts.add(requestHost(to.href) ?? to.host);
  }

  /** `commits`: whether what the tool commits is kept; of a call that has to ask first it is not, and it has seen nothing. */
  over(context: ToolContext, commits: () => boolean): ToolContext {
    const { canonical } = this.#tool;
    return {
      ...context,
      files: this.#markReads(context.files, commits),
      secret: async (name, host) => {
        const value = await context.secret(name, host);
        this.usedSecret(name);
        return value;
      },
      fetch: async (request) => {
        const response = await context.fetch(request);
        const host = requestHost(response.url || request.url);
        this.#own.mark('untrusted', `a page of ${host ?? 'a host'} (${canonical})`);
        return response;
      },
    };
  }

  /**
   * It has run, and its result will be seen. The secrets themselves never are: what they opened is. What is ours to say (that it took too
   * long, that it was stopped) came from nobody.
   */
  ended({ code }: ToolResult, server: ServerAccess | null): void {
    this.#keep();
    if (code === 'timeout' || code === 'aborted') return;
    const { canonical } = this.#tool;
    const origin = server === null ? this.#onlyHost() : originOfServer(server.name);
    if (this.#secret !== null) this.#kept.mark('private', `what ${canonical} answered to the secret ${this.#secret}`, origin);
    if (server !== null && hasCredentials(server))
      this.#kept.mark('private', `what ${canonical} answered to the credentials of its server`, origin);
    if (isServed(this.#tool) && this.#tool.trusted !== true)
      this.#kept.mark('untrusted', `what ${canonical} answered, whose server is not trusted`);
  }

  /** undefined: it asked none, or several. */
  #onlyHost(): string | undefined {
    const [host, ...others] = this.#hosts;
    return host === undefined || others.length > 0 ? undefined : originOfHost(host);
  }

  #keep(): void {
    const { private: read, untrusted } = this.#own.read();
    if (read !== null) this.#kept.mark('private', read);
    if (untrusted !== null) this.#kept.mark('untrusted', untrusted);
  }

  /** Contents that the conversation was given: not what it made itself, not the files of skills, and nothing where there is nothing. */
  #markReads(files: FileSystem, commits: () => boolean): FileSystem {
    return guardFiles(files, {
      deep: false,
      change: () => undefined,
      // With what a script leaves behind: a copy of what was given is the session's own.
      mayCommit: () => {
        if (commits()) this.#keep();
        return true;
      },
      read: (path, from) => {
        const stat = from.stat(path);
        if (stat === null || stat.size === 0 || stat.own || from.isReadOnly?.(path) === true) return;
        this.#own.mark('private', `${path} (${this.#tool.canonical})`);
      },
    });
  }
}

/**
 * A made tool that another key wrote: models read its name, description and parameters as soon as it is offered, and its code returns what
 * that key chose. Call it with the tools of a plan, or with the tool that is called.
 */
export function markForeignText(marks: TaintMarks, tools: readonly EditionTool[], keyId: string): void {
  const foreign = tools.find(({ made }) => made !== undefined && made.by !== keyId);
  if (foreign !== undefined) marks.mark('untrusted', `${foreign.canonical}, which another key wrote`);
}

/** What it returns to requests with credentials is private. */
export function hasCredentials({ headers = {}, mcp }: ServerAccess): boolean {
  return mcp?.oauth !== undefined || Object.values(headers).some((value) => typeof value !== 'string');
}

/** What an effect is judged by; null: the rule is off, or nothing leaves by it. `tool`: as its server stands now. */
export function taintFor(marks: TaintMarks | undefined, tool: EditionTool, effect: Effect): Taint | null {
  const taint = marks?.read() ?? null;
  return taint?.origin !== undefined && asksOrigin(taint.origin, tool, effect) ? null : taint;
}

/**
 * What only reads where everything private came from tells nobody what he does not know: that is no sending out, or the second question to one's own
 * issue tracker would be asked about. To write there is: what was private at a host may be read by everybody at another place of it.
 */
function asksOrigin(origin: string, tool: EditionTool, effect: Effect): boolean {
  if (effect.kind === 'network') return origin === originOfHost(effect.host) && (effect.method === 'GET' || effect.method === 'HEAD');
  if (!isServed(tool) || origin !== originOfServer(tool.server)) return false;
  return tool.annotations?.readOnlyHint === true && believesAnnotations(tool);
}
