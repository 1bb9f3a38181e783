/** What a benchmark prints, kept for bench/results/, and in short for docs/benchmarks.md, where it replaces the text between two marks of the part. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import type { Verdict } from './goals.ts';
import { readSections, type Results, summarize } from './results.ts';

const root = resolve(import.meta.dirname, '..');
const page = join(root, 'docs/benchmarks.md');

export class Report {
  readonly #lines: string[] = [];
  readonly #started = performance.now();

  section(title: string, means: string): void {
    this.line(`\n### ${title}\n\n${means}\n`);
  }

  line(text: string): void {
    console.log(text);
    this.#lines.push(text);
  }

  table(head: readonly string[], rows: readonly (readonly (string | number)[])[] = []): void {
    this.line(`| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}`);
    for (const row of rows) this.row(row);
  }

  row(cells: readonly (string | number)[]): void {
    this.line(`| ${cells.join(' | ')} |`);
  }

  verdicts(verdicts: readonly Verdict[]): void {
    for (const { text, holds, required } of verdicts) this.line(`- **${holds ? 'met' : required ? 'NOT MET' : 'missed'}**: ${text}`);
  }

  /** Runs another benchmark, whose output becomes part of this one. Returns whether it meets its goals. */
  async script(name: string, args: readonly string[]): Promise<boolean> {
    const child = spawn(process.execPath, [join(import.meta.dirname, name), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      process.stdout.write(String(chunk));
      output += String(chunk);
    }
    const status = await new Promise<number | null>((done) => {
      if (child.exitCode !== null) done(child.exitCode);
      else child.once('exit', done);
    });
    this.#lines.push(toMarkdown(output));
    return status === 0;
  }

  /** Writes the results of `npm run <script>`. `shown`: rows of long tables that the page has, too. */
  write(script: string, shown: (row: readonly string[]) => boolean = () => false): void {
    const minutes = Math.round((performance.now() - this.#started) / 60_000);
    writeResults(script, { about: `${machine()} The run took ${minutes} minutes.`, sections: readSections(this.#lines) }, shown);
    console.log(`\nWritten to docs/benchmarks.md and bench/results: ${script}.`);
  }
}

/** Replaces the part of the page between `<!-- results of npm run bench -->` and `<!-- end of results of npm run bench -->`. */
export function writeResults(script: string, results: Results, shown: (row: readonly string[]) => boolean): void {
  const [begin, end] = [`<!-- results of npm run ${script} -->`, `<!-- end of results of npm run ${script} -->`];
  const text = readFileSync(page, 'utf8');
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  if (from < begin.length || to < from) throw new Error(`docs/benchmarks.md has no results of npm run ${script}`);
  const file = `bench/results/${script.replace(':', '-')}.json`;
  mkdirSync(join(root, 'bench/results'), { recursive: true });
  // A line for each row of a table.
  writeFileSync(
    join(root, file),
    `${JSON.stringify(results, null, 1).replaceAll(/\[\s+("(?:[^"\\]|\\.)*"(?:,\s+"(?:[^"\\]|\\.)*")*)\s+\]/g, joinLines)}\n`,
  );
  writeFileSync(page, `${text.slice(0, from)}\n\n${summarize(results, file, shown)}\n\n${text.slice(to)}`);
}

function joinLines(list: string): string {
  return list.replaceAll(/\n\s*/g, ' ');
}

/** Verdicts as a list; a blank line before each table. */
function toMarkdown(output: string): string {
  return output
    .trim()
    .replaceAll(/^(pass|FAIL|missed): /gm, (_, word) => `- **${{ pass: 'met', FAIL: 'NOT MET' }[String(word)] ?? 'missed'}**: `)
    .replaceAll(/^([^|\n-][^\n]*)\n(?=\||- )/gm, '$1\n\n')
    .replaceAll(/^(\|[^\n]*)\n(?=[^|\n])/gm, '$1\n\n');
}

function machine(): string {
  const read = (command: string, ...args: string[]): string => execFileSync(command, args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = read('git', 'status', '--porcelain', 'src') === '' ? '' : ', with changes';
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/workerd/package.json'), 'utf8')) as { version: string };
  return [
    `${new Date().toISOString().slice(0, 10)}, commit ${read('git', 'rev-parse', '--short', 'HEAD')}${changed}.`,
    `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${read('uname', '-r')},`,
    `Node ${process.version}, workerd ${version}.`,
  ].join(' ');
}
