/** A replay as a JUnit report (the format that GitHub, GitLab and Jenkins read): a test for each case. Pure. */
import type { components } from '../../../client/src/index.ts';
import { cutToLength } from '../../core/text/utf8.ts';
import { terminalText } from '../../core/text/visible-text.ts';
import { type CaseFindingKind, findingsOf, findingsText } from './findings.ts';
import { subjectOf } from './replay-report.ts';

type Replay = components['schemas']['Replay'];
type ReplayCase = components['schemas']['ReplayCase'];

type JunitOptions = {
  /** The findings that fail a test; others are its output. */
  counted: readonly CaseFindingKind[];
  /** The difference of a case as text. */
  textOf(one: ReplayCase): string;
};

const maxTextLength = 20_000;
const maxAttributeLength = 500;

export function junitReport({ id, suite, createdAt }: Replay, cases: readonly ReplayCase[], { counted, textOf }: JunitOptions): string {
  const name = suite?.name ?? 'replay';
  const tests = cases.map((one) => testOf(one, name, counted, textOf));
  const countOf = (tag: Outcome) => tests.filter(({ outcome }) => outcome === tag).length;
  const seconds = cases.reduce((sum, { replayed }) => sum + (replayed?.durationMs ?? 0), 0) / 1_000;
  const totals = attributes({
    name,
    tests: tests.length,
    failures: countOf('failure'),
    errors: countOf('error'),
    skipped: countOf('skipped'),
    time: seconds.toFixed(3),
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totals}>`,
    `  <testsuite ${totals} ${attributes({ timestamp: createdAt })}>`,
    `    <properties><property ${attributes({ name: 'replay', value: id })}/></properties>`,
    ...tests.map(({ xml }) => xml),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

type Outcome = 'failure' | 'error' | 'skipped' | 'passed';

function testOf(
  one: ReplayCase,
  suite: string,
  counted: readonly CaseFindingKind[],
  textOf: JunitOptions['textOf'],
): { xml: string; outcome: Outcome } {
  const found = findingsOf(one);
  const failing = found.filter(({ kind }) => counted.includes(kind));
  const outcome: Outcome =
    one.status === 'skipped'
      ? 'skipped'
      : failing.length === 0
        ? 'passed'
        : failing.every(({ kind }) => kind === 'errors')
          ? 'error'
          : 'failure';
  const message = findingsText(failing.length > 0 ? failing : found);
  const text =
    found.length === 0 ? '' : escapeXml(cutToLength([...found.map((finding) => finding.text), textOf(one)].join('\n'), maxTextLength));
  const shown = attributes({ message, ...(outcome !== 'skipped' && { type: failing.map(({ kind }) => kind).join(',') }) });
  const inside =
    outcome === 'passed'
      ? text === ''
        ? ''
        : `<system-out>${text}</system-out>`
      : outcome === 'skipped'
        ? `<skipped ${shown}/>`
        : `<${outcome} ${shown}>${text}</${outcome}>`;
  const head = attributes({
    classname: suite,
    name: `case ${one.number}: ${subjectOf(one)}`,
    time: ((one.replayed?.durationMs ?? 0) / 1_000).toFixed(3),
  });
  return { outcome, xml: inside === '' ? `    <testcase ${head}/>` : `    <testcase ${head}>${inside}</testcase>` };
}

function attributes(values: Record<string, string | number>): string {
  return Object.entries(values)
    .map(
      ([name, value]) =>
        `${name}="${escapeXml(cutToLength(String(value), maxAttributeLength))
          .replaceAll('\n', '&#10;')
          .replaceAll('\t', '&#9;')}"`,
    )
    .join(' ');
}

/** XML 1.0 has no control characters, noncharacters and lone surrogates, not even escaped: they are shown as their code points. */
function escapeXml(text: string): string {
  return terminalText(text).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
