/** A failed request: what is wrong and what to do, with the code and the request id to copy. */
import { toShownProblem } from '../../api/moniker.ts';
import { CopyButton } from '../actions/copy-button.tsx';
import { PathMessages } from './path-messages.tsx';
import { InlineText } from './prose.tsx';
import { visible } from './visible.ts';

type ProblemProps = { error: unknown; retry?: () => void; suggest?: (value: string) => void };

/** `suggest`: called with a suggestion that the user picks. */
export function ProblemView({ error, retry, suggest }: ProblemProps) {
  const { title, detail, code, requestId, status, issues: all, suggestions } = toShownProblem(error);
  // The detail of a problem with one issue is that issue.
  const issues = all.filter(({ message }) => !detail.includes(message));
  return (
    <div class="problem" role="alert">
      <h2>{title}</h2>
      <p>
        <InlineText text={detail} />
      </p>
      {status === 403 && <p>Another key may have the scope: set it with “API key” at the top of the page.</p>}
      {!issues.every(({ message }) => detail.includes(message)) && <PathMessages items={issues} />}
      {suggest !== undefined && suggestions.length > 0 && (
        <p class="actions">
          Did you mean{' '}
          {suggestions.map((one) => (
            <button key={one} type="button" onClick={() => suggest(one)}>
              {visible(one)}
            </button>
          ))}
        </p>
      )}
      <footer>
        {retry !== undefined && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
        {code !== null && <code>{code}</code>}
        {requestId !== null && <code>{requestId}</code>}
        {code !== null && <CopyButton what="the problem" text={`${status} ${code} ${requestId ?? ''}\n${detail}`} />}
      </footer>
    </div>
  );
}
