/**
 * The page `/approve/{token}`: one tool call, all of its effects, and two buttons. Works without scripts and on phones. The call may
 * contain text of a model or a stranger, so all of it is shown through `visible-text.ts`.
 */
import { type ApprovalView, type Decision, maxDecisionReasonCharacters } from '../../core/policy/approval.ts';
import { escapeHtml, htmlPage, escapeInvisible } from './html.ts';
import { KB } from '../../core/limits/units.ts';

/**
 * JSON on the approval page; longer JSON is not indented, since indentation does not make it readable and depth would multiply its size.
 */
const maxIndentedCharacters = 64 * KB;

/** Shows buttons while the call is pending; afterwards its state. */
export function approvePage(approval: ApprovalView): string {
  const asking = approval.state === 'pending';
  return htmlPage(
    asking ? 'Approve this call?' : `This call is ${approval.state}`,
    `<main class="approval">
<h1>${asking ? 'Approve this call?' : `This call is ${approval.state}`}</h1>
<p class="reason">${escapeInvisible(approval.reason)}</p>
<dl>
<dt>Tool</dt><dd><code>${escapeInvisible(approval.canonical)}</code></dd>
<dt>Called as</dt><dd><code>${escapeInvisible(approval.entry)}</code></dd>
<dt>Session</dt><dd><code>${escapeInvisible(approval.session)}</code></dd>
<dt>${asking ? 'Expires' : 'Asked'}</dt><dd>${time(asking ? approval.expiresAt : approval.askedAt)}</dd>
</dl>
${effectsHtml(approval)}<h2>Arguments</h2>
${argumentsHtml(approval.arguments)}
${asking ? buttons(approval) : '<p>Nothing is left to decide. You may close this page.</p>'}
</main>`,
  );
}

/** Shown only for several effects: a single one is already in the reason. */
function effectsHtml({ effects = [], effectCount = 0 }: ApprovalView): string {
  if (effectCount < 2) return '';
  const lines = effects.map(({ action, method, target }) => {
    const what = escapeInvisible(method ?? action);
    return `<li>${what}${target === null ? '' : ` <code>${escapeInvisible(target)}</code>`}</li>`;
  });
  const more = effectCount - effects.length;
  return `<h2>Effects</h2>\n<ul class="effects">\n${lines.join('\n')}${more > 0 ? `\n<li>and ${more} more</li>` : ''}\n</ul>\n`;
}

/** Shown after a decision, when the link can no longer be used. */
export function decidedPage(decision: Decision, remember?: 'session'): string {
  const title = decision === 'approve' ? 'Approved' : 'Denied';
  const what =
    decision === 'deny'
      ? 'The call will not run, and the model is informed.'
      : remember === undefined
        ? 'The call may run once, with exactly these effects.'
        : 'The call may run, and the same is allowed in this session from now on.';
  return messagePage(title, `${what} This link can no longer be used. You may close this page.`);
}

/** For an invalid link, and for every other error. */
export function messagePage(title: string, text: string): string {
  return htmlPage(title, `<main class="approval">\n<h1>${escapeHtml(title)}</h1>\n<p>${escapeInvisible(text)}</p>\n</main>`);
}

/** Without `action`, the form is sent to the URL of the page, whatever prefix the path has. */
function buttons({ canRemember }: ApprovalView): string {
  const session = canRemember === true ? '<button name="remember" value="session">Approve for this session</button>\n' : '';
  return `<form method="post" class="decide">
<label>Reason, which the model reads after a denial <input name="reason" maxlength="${maxDecisionReasonCharacters}" autocomplete="off"></label>
<button name="decision" value="approve" class="approve">Approve</button>
${session}<button name="decision" value="deny" class="deny">Deny</button>
</form>`;
}

/** Shows text unchanged, line by line, and other values as JSON: indented, unless that would be much larger than the compact form. */
function argumentsHtml(args: Record<string, unknown>): string {
  const entries = Object.entries(args);
  if (entries.length === 0) return '<p>None.</p>';
  return entries
    .map(([name, value]) => {
      const [kind, text] = typeof value === 'string' ? ['text', value] : ['JSON', jsonText(value)];
      return `<h3><code>${escapeInvisible(name)}</code> <span class="muted">${kind}${text === '' ? ', empty' : ''}</span></h3>\n<pre dir="ltr">\n${escapeInvisible(text)}</pre>`;
    })
    .join('\n');
}

/** In indented JSON each line starts with its depth in spaces: a megabyte of deeply nested numbers would become sixty. */
function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > maxIndentedCharacters ? text : JSON.stringify(value, null, 2);
}

function time(iso: string): string {
  return `<time datetime="${escapeHtml(iso)}">${escapeHtml(iso.replace('T', ' ').replace(/(:\d\d)(:\d\d(\.\d+)?)?Z$/, '$1 UTC'))}</time>`;
}
