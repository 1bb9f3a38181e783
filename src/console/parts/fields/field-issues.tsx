/** What the service says is wrong with a document or a request, for the fields that it concerns, and what is doubtful. */
import { type ComponentChildren, createContext } from 'preact';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { PathMessages } from '../text/path-messages.tsx';

export type FieldIssue = { path: string; message: string };

/** The issues of the newest check or save of the document. */
export const FieldIssues = createContext<readonly FieldIssue[]>([]);

/** Shows at the fields what a failed request says about them. */
export function IssuesOf({ error, children }: { error: unknown; children: ComponentChildren }) {
  return <FieldIssues.Provider value={error instanceof MonikerError ? error.issues : []}>{children}</FieldIssues.Provider>;
}

/** Of a document that was stored despite them. */
export function Warnings({ warnings }: { warnings: readonly components['schemas']['Warning'][] }) {
  if (warnings.length === 0) return null;
  return (
    <section class="notice warn rounded" aria-label="Warnings">
      <PathMessages items={warnings} />
    </section>
  );
}
