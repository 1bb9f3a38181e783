/**
 * A UI tool: something that a person may be shown and that the caller's page runs (contract §7). Never offered to a model; it leads to
 * proposals (`proposals.ts`).
 */
import { boundedText } from '../text/bounded-text.ts';
import * as z from 'zod';
import { limits } from '../limits/limits.ts';

const maxUiTriggers = 50;

/** `ui.<name>`. */
export const UiToolName = z
  .string()
  .startsWith('ui.', {
    message:
      'only ui.<name> can be written here. Server tools come from their server (PUT /v1/servers/{server}), and all others are built in',
    abort: true,
  })
  .regex(/^ui\.[a-z][a-z0-9_-]{1,63}$/, { message: 'must be "ui." and 2 to 64 of a-z, 0-9, "_" and "-", beginning with a letter' })
  .meta({ description: 'Canonical name.', example: 'ui.camera' });

export const UiTool = z
  .strictObject({
    label: z.string().min(1).max(100).meta({ description: 'The label shown to the person.' }),
    description: boundedText(limits.maxDescriptionBytes).min(1),
    category: z.string().min(1).max(50).meta({ example: 'practice' }),
    triggers: z
      .array(z.string().min(1).max(100))
      .max(maxUiTriggers)
      .meta({ description: 'Words or phrases in the conversation that suggest the tool.' }),
    href: z
      .string()
      .max(limits.maxUrlLength)
      .refine((href) => /^(https:\/\/|http:\/\/|\/(?!\/))/.test(href), {
        message: 'must be an http(s) URL, or a path that begins with one "/"',
      })
      .optional(),
  })
  .meta({
    id: 'UiTool',
    example: {
      label: 'Camera',
      description: 'Takes a photo of homework.',
      category: 'upload',
      triggers: ['photo', 'take a picture'],
      href: '/camera',
    },
  });
export type UiTool = z.infer<typeof UiTool>;

/** `relevance` is 0 to 1. */
export const Proposal = z
  .object({
    canonical: z.string(),
    label: z.string(),
    text: z.string().meta({ description: 'One sentence for the person.' }),
    relevance: z.number().min(0).max(1),
    category: z.string(),
    href: z.string().optional(),
  })
  .meta({ id: 'Proposal' });
export type Proposal = z.infer<typeof Proposal>;
