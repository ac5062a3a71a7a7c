"""Baseline tour: a random grid over flyby sequences, then one deep-space manoeuvre on each leg."""

from itertools import pairwise, permutations

import numpy as np
from problem_config import default_flyby_altitude, load_problem_for_candidate
from scipy.optimize import minimize
from tools_wrapper import Tools

problem = load_problem_for_candidate(__file__)
tools = Tools()
record = None  # a logger; the harness binds it before it calls run_code()

# EVOLVE-BLOCK-START
SEED = 20260625
DAY = 86400.0  # s
AU = 1.495978707e8  # km
MIN_LEG = 10.0  # days
TRIES = 6  # random flyby epochs for each pair of start and end
MU_SUN = problem["mu_sun"]
START, END = problem["start"], problem["end"]


def window(boundary):
    """First and last epoch of the start or the end, MJD."""
    time = boundary["time"]
    if time["kind"] == "exact":
        return time["value"], time["value"]
    return time["lo"], time["hi"]


def state(boundary, epoch):
    """Where the start or the end is: position and velocity."""
    if boundary["planet_id"] == "0":
        return np.array(boundary["state_r"]), np.array(boundary["state_v"])
    return tools.ephem(boundary["planet_id"], epoch)


def encounters(sequence, epochs):
    """States of the start, of the planets flown by and of the end."""
    flybys = zip(sequence, epochs[1:-1], strict=True)
    planets = [tools.ephem(planet, epoch) for planet, epoch in flybys]
    return [state(START, epochs[0]), *planets, state(END, epochs[-1])]


def boundary_cost(boundary, v_spacecraft, v_reference):
    """Delta-v of leaving or arriving with this excess velocity."""
    excess = np.linalg.norm(v_spacecraft - v_reference)
    if boundary["type"] == "piecewise_linear":
        x, cost = zip(*boundary["breakpoints"], strict=True)
        return float(np.interp(excess, x, cost))
    mu = problem["planet_mu"][boundary["planet_id"]]
    r_p = problem["planet_radius"][boundary["planet_id"]] * (1.0 + boundary["h_factor"])
    period = boundary["T_days"] * DAY
    bound = (4.0 * np.pi**2 * mu**2 / period**2) ** (1.0 / 3.0)
    return float(np.sqrt(excess**2 + 2.0 * mu / r_p) - np.sqrt(max(2.0 * mu / r_p - bound, 0.0)))


def periapsis(r, v, mu):
    """Closest approach of the conic through a state."""
    h = np.cross(r, v)
    h2 = h @ h
    eccentricity2 = 1.0 + 2.0 * (v @ v / 2.0 - mu / np.linalg.norm(r)) * h2 / mu**2
    if h2 < 1e-30 or eccentricity2 < 0.0:
        return np.linalg.norm(r)
    return h2 / mu / (1.0 + np.sqrt(eccentricity2))


def too_low(radius, lowest):
    """Penalty that grows as an orbit dips below the lowest allowed radius."""
    return 1e6 * (lowest / radius - 1.0) if radius < lowest else 0.0


def flyby_cost(planet, v_in, v_out, v_planet):
    """Burn of a powered flyby, or None where it would be too low."""
    lowest = problem["planet_radius"][planet] + default_flyby_altitude(problem, planet)
    _, dv, feasible = tools.powered_flyby(
        v_in, v_out, v_planet, problem["planet_mu"][planet], lowest
    )
    return dv if feasible else None


def arc(r0, r1, seconds):
    """End velocities of a Lambert arc, or None."""
    try:
        return tools.lambert(r0, r1, seconds, MU_SUN)
    except (ValueError, RuntimeError):
        return None


def ballistic(sequence, epochs):
    """Cost and end velocities of the legs without manoeuvres; None where it cannot be flown."""
    states = encounters(sequence, epochs)
    legs = []
    cost = 0.0
    for (t0, t1), ((r0, _), (r1, _)) in zip(pairwise(epochs), pairwise(states), strict=True):
        leg = arc(r0, r1, (t1 - t0) * DAY)
        if leg is None:
            return None
        legs.append(leg)
        cost += too_low(periapsis(r0, leg[0], MU_SUN), 0.1 * AU)
    for planet, (_, v_planet), (before, after) in zip(
        sequence, states[1:-1], pairwise(legs), strict=True
    ):
        dv = flyby_cost(planet, before[1], after[0], v_planet)
        if dv is None:
            return None
        cost += dv
    cost += boundary_cost(START, legs[0][0], states[0][1])
    cost += boundary_cost(END, legs[-1][1], states[-1][1])
    body = END["planet_id"]
    if body != "0":
        from_previous = states[-1][0] - states[-2][0]
        excess = legs[-1][1] - states[-1][1]
        lowest = 1.1 * problem["planet_radius"][body]
        cost += too_low(periapsis(from_previous, excess, problem["planet_mu"][body]), lowest)
    return cost, states, legs


def random_epochs(rng, count, start, end):
    """Start, flybys at random shares of the free time, end; None if they are out of order."""
    legs = count + 1
    span = max(0.1, end - start - MIN_LEG * legs)
    epochs = [start]
    for share in sorted(rng.uniform(0.0, 1.0, count)):
        epochs.append(epochs[-1] + MIN_LEG + share * span / legs)
    epochs.append(end)
    return epochs if all(a < b for a, b in pairwise(epochs)) else None


def grid_search():
    """The cheapest ballistic tour found: cost, sequence, epochs, states and legs."""
    rng = np.random.default_rng(SEED)
    (first, last), (end_first, end_last) = window(START), window(END)
    allowed = problem["allowed_GA_planets"]
    best = None
    for count in range(min(problem["max_GA"], len(allowed)) + 1):
        points = 5 if count == 0 else 3
        earliest = max(end_first, last + MIN_LEG * (count + 1))
        for sequence in permutations(allowed, count):
            for start in np.linspace(first, last, points):
                for end in np.linspace(earliest, end_last, points):
                    for _ in range(TRIES):
                        epochs = random_epochs(rng, count, start, end)
                        flown = ballistic(sequence, epochs) if epochs else None
                        if flown and (best is None or flown[0] < best[0]):
                            best = (flown[0], sequence, epochs, *flown[1:])
    if best is None:
        epochs = [(first + last) / 2.0, (end_first + end_last) / 2.0]
        cost, states, legs = ballistic((), epochs)
        best = (cost, (), epochs, states, legs)
    return best


def unpack(x, sequence, start, end):
    """Epochs of the encounters and [epoch, x, y, z] of the manoeuvres, clipped to be in order."""
    legs = len(sequence) + 1
    epochs = [start, *x[4 * legs :], end]
    for k in range(1, legs):
        lower = epochs[k - 1] + MIN_LEG
        epochs[k] = min(max(epochs[k], lower), max(lower + 0.1, epochs[k + 1] - MIN_LEG))
    manoeuvres = np.array(x[: 4 * legs]).reshape(legs, 4)
    for manoeuvre, (t0, t1) in zip(manoeuvres, pairwise(epochs), strict=True):
        manoeuvre[0] = min(max(manoeuvre[0], t0 + MIN_LEG), t1 - MIN_LEG)
    return epochs, manoeuvres


def with_manoeuvres(x, sequence, start, end):
    """Cost and nodes of a tour with one manoeuvre on each leg; infinite if it cannot be flown."""
    epochs, manoeuvres = unpack(x, sequence, start, end)
    states = encounters(sequence, epochs)
    halves = []
    cost = 0.0
    for (t0, t1), ((r0, _), (r1, _)), (t, *r) in zip(
        pairwise(epochs), pairwise(states), manoeuvres, strict=True
    ):
        out = arc(r0, r, max(0.1, (t - t0) * DAY))
        home = arc(r, r1, max(0.1, (t1 - t) * DAY))
        if out is None or home is None:
            return np.inf, None
        cost += too_low(periapsis(r0, out[0], MU_SUN), 0.1 * AU)
        cost += too_low(periapsis(np.array(r), home[0], MU_SUN), 0.1 * AU)
        cost += np.linalg.norm(home[0] - out[1])
        halves.append((out, home))
    for planet, (_, v_planet), (before, after) in zip(
        sequence, states[1:-1], pairwise(halves), strict=True
    ):
        dv = flyby_cost(planet, before[1][1], after[0][0], v_planet)
        if dv is None:
            return np.inf, None
        cost += dv
    cost += boundary_cost(START, halves[0][0][0], states[0][1])
    cost += boundary_cost(END, halves[-1][1][1], states[-1][1])
    return cost, nodes(sequence, epochs, states, halves, manoeuvres)


def nodes(sequence, epochs, states, halves, manoeuvres=None):
    """The trajectory in the form that is asked for; each leg has one arc, or two and a DSM."""
    bodies = [START["planet_id"], *sequence, END["planet_id"]]
    kinds = ["start", *["GA"] * len(sequence), "end"]
    arrivals = [states[0][1], *(leg[-1][1] for leg in halves)]
    departures = [*(leg[0][0] for leg in halves), states[-1][1]]
    trajectory = []
    for k, kind in enumerate(kinds):
        r = states[k][0]
        trajectory.append(node(kind, epochs[k], bodies[k], r, arrivals[k], departures[k]))
        if manoeuvres is not None and kind != "end":
            t, *r = manoeuvres[k]
            out, home = halves[k]
            trajectory.append(node("DSM", t, "0", r, out[1], home[0]))
    return trajectory


def node(kind, epoch, planet_id, r, v_before, v_after):
    return {
        "type": kind,
        "time": float(epoch),
        "planet_id": planet_id,
        "r": [float(c) for c in r],
        "v_before": [float(c) for c in v_before],
        "v_after": [float(c) for c in v_after],
    }


def run_code():
    """Nodes of the best tour found."""
    grid_cost, sequence, epochs, states, legs = grid_search()
    record.set("sequence", "-".join([START["planet_id"], *sequence, END["planet_id"]]))
    record.set("grid_dv_kms", f"{grid_cost:.6f}")
    x0, steps = [], []
    for (t0, t1), (r0, _), leg in zip(pairwise(epochs), states[:-1], legs, strict=True):
        half = (t1 - t0) / 2.0
        r, _ = tools.propagate_two_body(r0, leg[0], half * DAY, MU_SUN)
        x0 += [t0 + half, *r]
        steps += [5.0, 0.02 * AU, 0.02 * AU, 0.02 * AU]
    x0 = np.array([*x0, *epochs[1:-1]])
    steps += [10.0] * len(sequence)

    def objective(x):
        return with_manoeuvres(x, sequence, epochs[0], epochs[-1])[0]

    start_cost = objective(x0)
    if start_cost >= 1e8:
        return nodes(sequence, epochs, states, [(leg,) for leg in legs])
    found = minimize(
        objective,
        x0,
        method="Nelder-Mead",
        options={
            "initial_simplex": np.vstack([x0, x0 + np.diag(steps)]),
            "maxiter": 150 * len(x0),
            "xatol": 1e-4,
            "fatol": 1e-6,
        },
    )
    better = found.fun < start_cost - 1e-6
    record.set("refined_dv_kms", f"{min(found.fun, start_cost):.6f}")
    _, trajectory = with_manoeuvres(found.x if better else x0, sequence, epochs[0], epochs[-1])
    return trajectory


# EVOLVE-BLOCK-END
