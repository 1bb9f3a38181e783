/** The `approval` member of entries in toolsets: for tools, resources and prompts. */
import * as z from 'zod';

export const ApprovalRule = z.enum(['never', 'always', 'policy']).meta({
  id: 'ApprovalRule',
  description:
    'When a call requires approval. `policy` (default): as the workspace’s policy decides. `always`: every call. ' +
    '`never`: no approval for calls of this entry; setting it needs an unbound key with scope `admin`.',
});
export type ApprovalRule = z.infer<typeof ApprovalRule>;
