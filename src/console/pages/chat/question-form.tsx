/** What a call waits for: a decision, answers to the questions of a server, or the result of a tool that the client runs. */
import { bound, boundCheck, PlainForm } from '../../parts/fields/controls.tsx';
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { ApprovalBox } from '../../parts/actions/approval-box.tsx';
import { late } from '../../parts/layout/late.tsx';
import type { ChatSession } from '../../session/chat-session.ts';
import type { Call, Question } from '../../session/fold-events.ts';

const ElicitationForm = late(async () => (await import('./elicitation-form.tsx')).ElicitationForm);

type QuestionProps<Kind extends Question> = {
  session: ChatSession;
  call: Call;
  question: Kind;
  act(work: () => Promise<unknown>): Promise<boolean>;
};
type Of<Type> = Extract<Question, { type: Type }>;

export function QuestionForm({ question, ...rest }: QuestionProps<Question>) {
  switch (question.type) {
    case 'approval-required':
      return (
        <ApprovalBox
          name={rest.call.name}
          question={question}
          decide={(decided) => rest.act(() => rest.session.decide(rest.call, decided))}
        />
      );
    case 'input-required':
      return <InputBox question={question} {...rest} />;
    case 'client-tool-required':
      return <ClientToolBox question={question} {...rest} />;
    default:
      return question satisfies never;
  }
}

function InputBox({ session, call, question, act }: QuestionProps<Of<'input-required'>>) {
  const answers = useSignal<Record<string, components['schemas']['ElicitationAnswer']>>({});
  const requests = Object.entries(question.requests);
  const give = async (key: string, answer: components['schemas']['ElicitationAnswer']): Promise<void> => {
    answers.value = { ...answers.value, [key]: answer };
    if (Object.keys(answers.value).length < requests.length) return;
    // After an error the questions are shown again.
    if (!(await act(() => session.sendInput(call, answers.value)))) answers.value = {};
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: the forms within are the fieldsets
    <div class="ask" role="group" aria-label={`Questions of ${question.server}`}>
      {requests.map(([key, { params }]) =>
        Object.hasOwn(answers.value, key) ? null : (
          <ElicitationForm key={key} server={question.server} params={params} onAnswer={(answer) => void give(key, answer)} />
        ),
      )}
    </div>
  );
}

function ClientToolBox({ session, call, act }: QuestionProps<Of<'client-tool-required'>>) {
  const text = useSignal('');
  const isError = useSignal(false);
  const isSending = useSignal(false);
  const field = `result-${call.callId}`;
  return (
    <PlainForm
      class="ask"
      aria-label={`Result of ${call.name}`}
      send={async () => {
        isSending.value = true;
        await act(() => session.sendResult(call, text.value, isError.value));
        isSending.value = false;
      }}
    >
      <p class="reason">This tool runs in the client. Enter its result to continue.</p>
      <label for={field}>Result</label>
      <textarea id={field} rows={3} class="code" {...bound(text)} />
      <label class="check">
        <input type="checkbox" {...boundCheck(isError)} />
        The tool failed
      </label>
      <div class="actions">
        <button type="submit" class="primary" disabled={isSending.value}>
          Send result
        </button>
      </div>
    </PlainForm>
  );
}
