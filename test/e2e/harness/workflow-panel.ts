import type { FrameLocator, Locator } from 'playwright-core';

/** Conductor's panel, found the way a screen reader finds it: by role and name. */
export class WorkflowPanel {
  readonly frame: FrameLocator;

  constructor(frame: FrameLocator) {
    this.frame = frame;
  }

  get question(): Locator {
    return this.frame.getByRole('region', { name: 'Question' });
  }

  /** The box a question is typed into; there while no run is open. */
  get ask(): Locator {
    return this.frame.getByRole('textbox', { name: 'Ask a coding question' });
  }

  /** The line that says where the run stands, such as "Verified" or "Running step 2 of 3". */
  get status(): Locator {
    return this.frame.locator('.status-text');
  }

  /** The graph of one round, counted from 0: a card for every step. */
  plan(round = 0): Locator {
    return this.frame.getByRole('list', { name: 'Plan' }).nth(round);
  }

  /** The card of a step, counted from 1 as the panel counts. */
  step(number: number, round = 0): Locator {
    return this.plan(round).getByRole('listitem').nth(number - 1);
  }

  /** The lines that the cards' edges draw. */
  get edges(): Locator {
    return this.frame.locator('svg.gutter path.edge-line');
  }

  get verdict(): Locator {
    return this.frame.locator('.verdict');
  }

  get answer(): Locator {
    return this.frame.getByRole('region', { name: 'Answer' });
  }

  changesIn(file: string): Locator {
    return this.frame.getByLabel(`Changes in ${file}`);
  }

  pastRun(question: string | RegExp): Locator {
    return this.frame.getByRole('region', { name: 'Past runs' }).getByRole('button').filter({ hasText: question });
  }

  /** What is drawn over the steps of a training. */
  curve(name: string): Locator {
    return this.frame.getByRole('img', { name, exact: true });
  }

  button(name: string | RegExp): Locator {
    return this.frame.getByRole('button', { name });
  }
}
