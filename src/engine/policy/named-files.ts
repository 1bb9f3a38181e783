/**
 * Finds the stored files that a script names where it runs other scripts, and recursively the files that those name. If the script requires
 * approval before it runs, the approval is bound to their content: approving `bash run.sh` approves the current `run.sh`. This is not a
 * parser: names composed at run time are not found; the effects of such scripts require approval when they happen.
 */
import { resolvePath, workspace } from '../../core/text/path.ts';
import { utf8Text } from '../../core/text/utf8.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import { KB } from '../../core/limits/units.ts';

/**
 * Files named in a script to whose content a question before its run is bound, and the size up to which they are searched for
 * further names.
 */
const maxNamedScriptFiles = 100;
const maxNamedScriptBytes = 64 * KB;

export function namedFiles(command: string, cwd: string, files: FileSystem): string[] {
  const found = new Set<string>();
  const texts = [command];
  for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
    if (!runsScripts.test(text)) continue;
    for (const word of wordsOf(text)) {
      const resolved = resolvePath(word, startOf(cwd));
      if (!resolved.ok || found.has(resolved.path) || found.size >= maxNamedScriptFiles) continue;
      const stat = files.stat(resolved.path);
      if (stat?.kind !== 'file') continue;
      found.add(resolved.path);
      if (stat.size <= maxNamedScriptBytes) texts.push(utf8Text(files.read(resolved.path)) ?? '');
    }
  }
  return [...found];
}

function startOf(cwd: string): string {
  const resolved = resolvePath(cwd, workspace);
  return resolved.ok ? resolved.path : workspace;
}

/** Matches a command that runs what it reads, or a path in the position of a command. */
const runsScripts = /(?:^|[\s;|&("'`])(?:bash|sh|source|\.|eval|exec|xargs|env)(?=\s|$)|(?:^|[;|&(\n])\s*\.{0,2}\//;

/** Splits at white space, quotes and characters that separate commands. */
function wordsOf(text: string): string[] {
  return text.split(/[\s"'`;|&<>()$={}]+/).filter((word) => word !== '' && !word.startsWith('-'));
}
