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

  /** The box under an answer, to go on from it. */
  get followUp(): Locator {
    return this.frame.getByRole('textbox', { name: 'Continue from here' });
  }

  /** The exchanges before the question. */
  get earlier(): Locator {
    return this.frame.getByRole('region', { name: 'Earlier in this conversation' });
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

  /** The plan of a round as a graph, counted from 0; there where the page is wide. */
  graph(round = 0): Locator {
    return this.frame.getByRole('tablist', { name: 'Plan' }).nth(round);
  }

  /** A step of the graph, counted from 1 as the panel counts. */
  node(number: number, round = 0): Locator {
    return this.graph(round).getByRole('tab').nth(number - 1);
  }

  /** The lines between the graph's steps. */
  get graphEdges(): Locator {
    return this.frame.locator('svg.graph-edges path.edge-line');
  }

  /** What is said of the step that is selected in the graph. */
  get details(): Locator {
    return this.frame.getByRole('tabpanel');
  }

  /** The box that past runs are searched with, and what it says of them. */
  get search(): Locator {
    return this.frame.getByRole('searchbox', { name: 'Search past runs' });
  }

  get searchResult(): Locator {
    return this.frame.locator('.search-result');
  }

  get pastRuns(): Locator {
    return this.frame.getByRole('region', { name: 'Past runs' }).getByRole('listitem');
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

  /** Shown while the mouse or the focus is in its line. */
  removeRun(question: string): Locator {
    return this.frame.getByRole('button', { name: `Remove the run “${question}”` });
  }

  /** What is drawn over the steps of a training. */
  curve(name: string): Locator {
    return this.frame.getByRole('img', { name, exact: true });
  }

  button(name: string | RegExp): Locator {
    return this.frame.getByRole('button', { name });
  }
}
