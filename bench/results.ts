/** What a benchmark printed, as data for bench/results/, and in short for docs/benchmarks.md. Pure. */

export type Table = { head: string[]; rows: string[][] };
export type Goal = { met: 'met' | 'missed' | 'NOT MET'; text: string };
export type Section = { title: string; means: string[]; tables: Table[]; goals: Goal[] };
export type Results = { about: string; sections: Section[] };

/** Longer tables, and those of sections whose goals say the same, are in bench/results/ only, but for the rows that the page shows. */
const maxShownRows = 4;

/** Reads the lines of a run: `### title`, tables, `- **met**: …`, and text. */
export function readSections(lines: readonly string[]): Section[] {
  const sections: Section[] = [];
  let wasTable = false;
  for (const line of lines.join('\n').split('\n')) {
    const isTable = line.startsWith('|');
    const [, title] = /^### (.+)/.exec(line) ?? [];
    const [, met, text] = /^- \*\*(met|missed|NOT MET)\*\*: (.+)/.exec(line) ?? [];
    const section = sections.at(-1);
    if (title !== undefined) sections.push({ title, means: [], tables: [], goals: [] });
    else if (line.trim() !== '') {
      if (section === undefined) throw new Error(`A benchmark printed this before its first section: ${line}`);
      if (text !== undefined) section.goals.push({ met: met as Goal['met'], text });
      else if (isTable && !wasTable) section.tables.push({ head: cellsOf(line), rows: [] });
      else if (!isTable) section.means.push(line);
      else if (!/^\|(?:-+\|)+$/.test(line)) section.tables.at(-1)?.rows.push(cellsOf(line));
    }
    wasTable = isTable;
  }
  return sections;
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, line.lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.trim());
}

/** A paragraph for each section, with what it met in one line, what it missed, and few tables. `file` has all. `shown`: rows of other tables. */
export function summarize({ about, sections }: Results, file: string, shown: (row: readonly string[]) => boolean): string {
  const known = new Set<string>();
  const parts = sections.map(({ title, means, tables, goals }) => {
    // The last section repeats the goals of the others.
    const own = goals.filter(({ met, text }) => !known.has(text) && !(met === 'met' && text.endsWith('the goals of its section')));
    for (const { text } of own) known.add(text);
    const met = own.filter((goal) => goal.met === 'met').map(({ text }) => text);
    const said = [`**${title}.**`, ...means, ...(met.length > 0 ? [`Met: ${met.join('; ')}.`] : [])].join(' ');
    const others = own.flatMap((goal) => (goal.met === 'met' ? [] : [`- **${goal.met}**: ${goal.text}`]));
    return [
      [said, ...others].join('\n'),
      ...tables.map((table) => showTable(table, goals.length > 0 ? shown : (row) => table.rows.length <= maxShownRows || shown(row))),
    ];
  });
  return [`${about} All tables: \`${file}\`.`, ...parts.flat()].filter((part) => part !== '').join('\n\n');
}

function showTable({ head, rows }: Table, shown: (row: readonly string[]) => boolean): string {
  const chosen = rows.filter(shown);
  if (chosen.length === 0) return '';
  const lines = [head, ...chosen].map((cells) => `| ${cells.join(' | ')} |`);
  return [lines[0], `|${'---|'.repeat(head.length)}`, ...lines.slice(1)].join('\n');
}
