// Tables that sort, and the keys in them.

const sorts = new Map();

// A table whose columns sort. A column is {title, value(row), cell(row), right, hint}; a value that is
// null (unknown) comes last in both directions. `cards`: rows become cards on a small screen.
function table(name, caption, columns, rows, { cards = false, pinned = false, first } = {}) {
  const holder = h("div", {
    class: `scroll ${cards ? "cards" : ""} ${pinned ? "pinned" : ""}`,
    role: "region",
    "aria-label": caption,
    tabindex: 0,
  });
  const draw = (focus) => {
    const order = sorts.get(name) ?? first ?? null;
    const sorted = order === null ? rows : sortRows(rows, columns[order.column], order.down);
    const head = columns.map((column, i) => {
      const active = order !== null && order.column === i;
      const button =
        column.value &&
        h(
          "button",
          {
            type: "button",
            title: column.hint,
            click: () => {
              const down = active ? !order.down : Boolean(column.right);
              sorts.set(name, { column: i, down });
              draw(i);
            },
          },
          column.title,
          h("span", { class: "arrow", "aria-hidden": "true" }, active ? (order.down ? "▼" : "▲") : ""),
        );
      return h(
        "th",
        {
          scope: "col",
          class: column.right ? "right" : null,
          "aria-sort": active ? (order.down ? "descending" : "ascending") : null,
        },
        button || column.title,
      );
    });
    const body = h(
      "tbody",
      { keydown: moveRows },
      sorted.map((item) =>
        h(
          "tr",
          {},
          columns.map((column, i) =>
            h(
              i === 0 ? "th" : "td",
              {
                scope: i === 0 ? "row" : null,
                class: column.right ? "right" : null,
                "data-label": column.label ?? (typeof column.title === "string" ? column.title : null),
              },
              h("div", {}, column.cell(item)),
            ),
          ),
        ),
      ),
    );
    holder.replaceChildren(
      h(
        "table",
        { "data-name": name },
        h("caption", { class: "unseen" }, caption),
        h("thead", {}, h("tr", {}, head)),
        body,
      ),
    );
    if (focus !== undefined) holder.querySelectorAll("thead th")[focus].querySelector("button").focus();
  };
  draw();
  return holder;
}

function sortRows(rows, column, down) {
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  return [...rows].sort((one, other) => {
    const [a, b] = [column.value(one) ?? null, column.value(other) ?? null];
    if (a === null || b === null) return (a === null) - (b === null);
    return down ? compare(b, a) : compare(a, b);
  });
}

// Up and down go from row to row of a table whose rows hold a link or a button.
function moveRows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = step && event.target.closest("tr");
  let next = row && (step > 0 ? row.nextElementSibling : row.previousElementSibling);
  next = next && next.querySelector("a, button");
  if (next) {
    next.focus();
    event.preventDefault();
  }
}
