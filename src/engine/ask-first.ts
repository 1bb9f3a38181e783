/**
 * The capabilities of a running tool with the policy beneath them: what needs a person's word stops the tool before it
 * happens, however the tool was told to do it. A tool may swallow the error; `asked()` still knows.
 */
import type { Ask } from '../core/approval.ts';
import { judgeHost, judgeWrite, type PolicyRule } from '../core/policy.ts';
import { FileError, type FileSystem } from '../ports/file-system.ts';
import type { ToolContext } from '../ports/tool-executor.ts';

export type AskFirst = { context: ToolContext; asked(): Ask | null };

/** `stop` ends the tool: what it does from here on is thrown away. */
export function askFirst(context: ToolContext, canonical: string, rules: readonly PolicyRule[], stop: (ask: Ask) => void): AskFirst {
  let first: Ask | null = null;
  const need = (ask: Ask): void => {
    first ??= ask;
    stop(first);
  };
  return {
    asked: () => first,
    context: {
      ...context,
      files: guardWrites(context.files, (path) => {
        const ask = judgeWrite(canonical, path, rules);
        if (ask === null) return;
        need(ask);
        throw new FileError('EPERM', path, `${path} is outside /workspace: writing there needs approval.`);
      }),
      fetch: async (request) => {
        const ask = judgeHost(canonical, new URL(request.url).host, rules);
        if (ask === null) return await context.fetch(request);
        need(ask);
        throw new Error(`${ask.reason}: it needs approval.`);
      },
    },
  };
}

function guardWrites(files: FileSystem, check: (path: string) => void): FileSystem {
  return {
    stat: (path) => files.stat(path),
    read: (path) => files.read(path),
    list: (path) => files.list(path),
    paths: () => files.paths(),
    write(path, content, options) {
      check(path);
      files.write(path, content, options);
    },
    append(path, content) {
      check(path);
      files.append(path, content);
    },
    makeDirectory(path, options) {
      check(path);
      files.makeDirectory(path, options);
    },
    remove(path, options) {
      check(path);
      files.remove(path, options);
    },
    rename(from, to) {
      check(from);
      check(to);
      files.rename(from, to);
    },
    setMode(path, mode) {
      check(path);
      files.setMode(path, mode);
    },
    setModifiedAt(path, modifiedAt) {
      check(path);
      files.setModifiedAt(path, modifiedAt);
    },
  };
}
