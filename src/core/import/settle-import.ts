/**
 * Makes a project of what an import read: documents that cannot be written as they are (a variable that only the command line expands, a
 * member that is invalid) are left out with the reason, and the others stay.
 */
import { isRecord, type Json, recordOf } from '../json/wire-value.ts';
import { type Issue, type Warning, parsePart } from '../problem.ts';
import { mapPlaces, settleVariables, withDefaults } from '../project/expand-variables.ts';
import { Project } from '../project/project.ts';
import type { Skipped } from './draft.ts';

export type SettledImport = {
  project: Project;
  /** The paths of all documents, such as `servers.github`. */
  documents: ReadonlySet<string>;
  skipped: Skipped[];
  warnings: Warning[];
};

export function settleImport(given: unknown): SettledImport {
  const { project, issues, unset } = settleVariables(withAllDefaults(given));
  const left = withoutFaulty(recordOf(project), issues);
  const parsed = parsePart(Project, left.sections);
  const rest = 'issues' in parsed ? withoutFaulty(left.sections, parsed.issues) : left;
  const skipped = 'issues' in parsed ? [...left.skipped, ...rest.skipped] : left.skipped;
  return {
    project: 'issues' in parsed ? Project.parse(rest.sections) : parsed.data,
    documents: new Set(pathsOf(rest.sections)),
    skipped,
    warnings: unset.map(({ path, variable }) => ({
      path,
      message: `has no value: ${variable} was not filled in. The command line does it, for variables that are set`,
    })),
  };
}

/** A variable of a file may have a default, which is as good as any value here. Secrets keep their variable. */
function withAllDefaults(given: unknown): unknown {
  return mapPlaces(given, (text, path) => (path.startsWith('secrets.') ? text : withDefaults(text)));
}

/** Issues outside of any document remove the section. */
function withoutFaulty(sections: Json, issues: readonly Issue[]): { sections: Json; skipped: Skipped[] } {
  const paths = pathsOf(sections);
  const reasons = new Map<string, string>();
  for (const { path, message } of issues) {
    // Names may contain dots, so one path may be the beginning of another.
    const around = paths.filter((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`));
    const [document] = around.toSorted((one, other) => other.length - one.length);
    const place = document ?? path.split(/[.[]/, 1)[0] ?? '';
    const member = path.slice(place.length).replace(/^\./, '');
    if (!reasons.has(place)) reasons.set(place, member === '' ? message : `${member}: ${message}`);
  }
  const kept = Object.entries(sections).flatMap(([section, documents]): [string, unknown][] => {
    if (reasons.has(section)) return [];
    if (!isRecord(documents)) return [[section, documents]];
    return [[section, Object.fromEntries(Object.entries(documents).filter(([name]) => !reasons.has(`${section}.${name}`)))]];
  });
  return { sections: Object.fromEntries(kept), skipped: [...reasons].map(([name, reason]) => ({ name, reason })) };
}

function pathsOf(sections: Json): string[] {
  return Object.entries(sections).flatMap(([section, documents]) =>
    section === 'workspace' || section === 'policy' ? [section] : Object.keys(recordOf(documents)).map((name) => `${section}.${name}`),
  );
}
