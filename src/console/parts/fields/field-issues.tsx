/** What the service says is wrong with a document or a request, for the fields that it concerns. */
import { type ComponentChildren, createContext } from 'preact';
import { MonikerError } from '../../../../client/src/index.ts';

export type FieldIssue = { path: string; message: string };

/** The issues of the newest check or save of the document. */
export const FieldIssues = createContext<readonly FieldIssue[]>([]);

/** Shows at the fields what a failed request says about them. */
export function IssuesOf({ error, children }: { error: unknown; children: ComponentChildren }) {
  return <FieldIssues.Provider value={error instanceof MonikerError ? error.issues : []}>{children}</FieldIssues.Provider>;
}
