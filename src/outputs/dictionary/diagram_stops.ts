/** A line between two boxes, by their ids: it is drawn from right to left, for what is pointed at stands left. */
export interface Line {
  readonly from: string;
  readonly to: string;
}

/** A place in a column: a box, or where a line passes through a column that it doesn't end in. */
export interface Stop {
  readonly id: string;
  readonly height: number;
}
