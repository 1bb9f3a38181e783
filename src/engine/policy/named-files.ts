/**
 * The stored files that a script names where it runs other scripts, and those that these name. A script that requires approval before it runs is bound to their content, so that
 * `bash run.sh` is approved for the `run.sh` that was there. This is no parser: it does not find a name that is put together while the script runs.
 * The effects of such a script require approval where they happen.
 */
import { limits } from '../../core/limits.ts';
import { resolvePath, workspace } from '../../core/path.ts';
import { utf8Text } from '../../core/utf8.ts';
import type { FileSystem } from '../../ports/file-system.ts';

export function namedFiles(command: string, cwd: string, files: FileSystem): string[] {
  const found = new Set<string>();
  const texts = [command];
  for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
    if (!runsScripts.test(text)) continue;
    for (const word of wordsOf(text)) {
      const resolved = resolvePath(word, startOf(cwd));
      if (!resolved.ok || found.has(resolved.path) || found.size >= limits.maxNamedScriptFiles) continue;
      const stat = files.stat(resolved.path);
      if (stat?.kind !== 'file') continue;
      found.add(resolved.path);
      if (stat.size <= limits.maxNamedScriptBytes) texts.push(utf8Text(files.read(resolved.path)) ?? '');
    }
  }
  return [...found];
}

function startOf(cwd: string): string {
  const resolved = resolvePath(cwd, workspace);
  return resolved.ok ? resolved.path : workspace;
}

/** A command that runs what it reads, or a file in the place of a command. */
const runsScripts = /(?:^|[\s;|&("'`])(?:bash|sh|source|\.|eval|exec|xargs|env)(?=\s|$)|(?:^|[;|&(\n])\s*\.{0,2}\//;

/** Between white space, quotes and what separates commands. */
function wordsOf(text: string): string[] {
  return text.split(/[\s"'`;|&<>()$={}]+/).filter((word) => word !== '' && !word.startsWith('-'));
}
