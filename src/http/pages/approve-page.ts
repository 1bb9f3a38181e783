/**
 * `/approve/{token}`: one tool call, all that it would do, and two buttons. Works without a script and on a phone. Whatever
 * stands in the call was written by a model or a stranger, so all of it is shown by `visible-text.ts`.
 */
import type { ApprovalView, Decision } from '../../core/policy/approval.ts';
import { escapeHtml, htmlPage } from './html.ts';
import { escapeInvisible } from './escape-invisible.ts';
import { KB } from '../../core/limits/units.ts';

/**
 * JSON on the approval page; longer JSON is not indented, since nobody reads it for its form and depth would multiply its size.
 */
const maxIndentedCharacters = 64 * KB;

/** Buttons only while it waits; afterwards it says what became of it. */
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
${asking ? buttons : '<p>Nothing is left to decide. You may close this page.</p>'}
</main>`,
  );
}

/** Only where they say more than the reason: a single effect is in it. */
function effectsHtml({ effects = [], effectCount = 0 }: ApprovalView): string {
  if (effectCount < 2) return '';
  const lines = effects.map(({ action, method, target }) => {
    const what = escapeInvisible(method ?? action);
    return `<li>${what}${target === null ? '' : ` <code>${escapeInvisible(target)}</code>`}</li>`;
  });
  const more = effectCount - effects.length;
  return `<h2>Effects</h2>\n<ul class="effects">\n${lines.join('\n')}${more > 0 ? `\n<li>and ${more} more</li>` : ''}\n</ul>\n`;
}

/** After the word: what was decided, and that the link is used. */
export function decidedPage(decision: Decision): string {
  const title = decision === 'approve' ? 'Approved' : 'Denied';
  const what =
    decision === 'approve' ? 'The call may run, once, with exactly these effects.' : 'The call will not run, and the model is told so.';
  return messagePage(title, `${what} This link is used up; you may close this page.`);
}

/** For a link that decides nothing (any more), and for every other fault. */
export function messagePage(title: string, text: string): string {
  return htmlPage(title, `<main class="approval">\n<h1>${escapeHtml(title)}</h1>\n<p>${escapeInvisible(text)}</p>\n</main>`);
}

/** No `action`: the form goes where the page came from, whatever stands before the path. */
const buttons = `<form method="post" class="decide">
<button name="decision" value="approve" class="approve">Approve</button>
<button name="decision" value="deny" class="deny">Deny</button>
</form>`;

/** A text is shown as it is, line by line; all else as JSON: on lines of its own each, unless that would be more than what it says. */
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

/** Each line of deep JSON begins with its depth in spaces: a megabyte of numbers, nested deeply, would be sixty of them. */
function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > maxIndentedCharacters ? text : JSON.stringify(value, null, 2);
}

function time(iso: string): string {
  return `<time datetime="${escapeHtml(iso)}">${escapeHtml(iso.replace('T', ' ').replace(/(:\d\d)(:\d\d(\.\d+)?)?Z$/, '$1 UTC'))}</time>`;
}
