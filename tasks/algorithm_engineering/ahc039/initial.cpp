// Purse seine fishing: simulated annealing on the vertices of one axis-parallel polygon.
//
// The start is the best rectangle of a coarse grid. Moves shift an edge, add a bulge to an edge or
// remove a vertex that lies between two others on a line. The net catch is updated by the fish in
// the rectangle that a move sweeps; fish on boundaries are counted only approximately on the way.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

struct Point {
    int x, y;
    bool operator==(const Point&) const = default;
};

struct Fish {
    Point at;
    int value;  // +1 mackerel, -1 sardine
};

using Polygon = std::vector<Point>;

constexpr int SIDE = 100000;
constexpr int MAX_VERTICES = 1000;
constexpr long long MAX_LENGTH = 400000;

// EVOLVE-BLOCK-START
using Clock = std::chrono::steady_clock;

class Random {
   public:
    Random() {
        const auto now = std::chrono::high_resolution_clock::now().time_since_epoch().count();
        state_ = static_cast<std::uint64_t>(now) ^ (std::uint64_t{std::random_device{}()} << 32);
        if (state_ == 0) state_ = 88172645463325252ULL;
    }
    std::uint64_t bits() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }
    int integer(int low, int high) {
        return low + static_cast<int>(bits() % static_cast<std::uint64_t>(high - low + 1));
    }
    double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

   private:
    std::uint64_t state_;
};

// Answers "which fish are in this closed rectangle" with a k-d tree: median splits, x and y in turn.
class FishTree {
   public:
    explicit FishTree(const std::vector<Fish>& fish) : fish_(fish) {
        std::vector<int> indices(fish.size());
        std::iota(indices.begin(), indices.end(), 0);
        root_ = build(indices.begin(), indices.end(), 0);
    }

    std::vector<int> inside(const Point& low, const Point& high) const {
        std::vector<int> found;
        list(root_.get(), low, high, 0, found);
        return found;
    }
    // The net catch in the rectangle; 0 if it is empty.
    int value(int x1, int x2, int y1, int y2) const {
        int total = 0;
        for (const int index : inside({x1, y1}, {x2, y2})) total += fish_[index].value;
        return total;
    }

   private:
    struct Node {
        int fish;  // index
        std::unique_ptr<Node> below, above;
    };
    using Place = std::vector<int>::iterator;

    std::unique_ptr<Node> build(Place begin, Place end, int axis) {
        if (begin == end) return nullptr;
        const Place middle = begin + (end - begin) / 2;
        std::nth_element(begin, middle, end, [this, axis](int a, int b) {
            const Point &p = fish_[a].at, &q = fish_[b].at;
            return axis ? p.y < q.y : p.x < q.x;
        });
        auto node = std::make_unique<Node>();
        node->fish = *middle;
        node->below = build(begin, middle, 1 - axis);
        node->above = build(middle + 1, end, 1 - axis);
        return node;
    }
    void list(const Node* node, const Point& low, const Point& high, int axis,
              std::vector<int>& found) const {
        if (!node) return;
        const Point& at = fish_[node->fish].at;
        if (low.x <= at.x && at.x <= high.x && low.y <= at.y && at.y <= high.y)
            found.push_back(node->fish);
        const int here = axis ? at.y : at.x;
        if ((axis ? low.y : low.x) <= here) list(node->below.get(), low, high, 1 - axis, found);
        if (here <= (axis ? high.y : high.x)) list(node->above.get(), low, high, 1 - axis, found);
    }

    std::vector<Fish> fish_;
    std::unique_ptr<Node> root_;
};

bool is_vertical(const Point& a, const Point& b) { return a.x == b.x; }

int length(const Point& a, const Point& b) { return std::abs(a.x - b.x) + std::abs(a.y - b.y); }

long long perimeter(const Polygon& p) {
    long long total = 0;
    for (std::size_t i = 0; i < p.size(); i++) total += length(p[i], p[(i + 1) % p.size()]);
    return total;
}

long long doubled_area(const Polygon& p) {
    long long total = 0;
    for (std::size_t i = 0; i < p.size(); i++) {
        const Point &a = p[i], &b = p[(i + 1) % p.size()];
        total += static_cast<long long>(a.x) * b.y - static_cast<long long>(b.x) * a.y;
    }
    return total;
}

// Closed axis-parallel segments: do their bounding boxes, that is they themselves, share a point?
bool touch(const Point& a, const Point& b, const Point& c, const Point& d) {
    return std::max(a.x, b.x) >= std::min(c.x, d.x) && std::max(c.x, d.x) >= std::min(a.x, b.x) &&
           std::max(a.y, b.y) >= std::min(c.y, d.y) && std::max(c.y, d.y) >= std::min(a.y, b.y);
}

// Does b -> c run back over a -> b?
bool folds_back(const Point& a, const Point& b, const Point& c) {
    return static_cast<long long>(b.x - a.x) * (c.x - b.x) < 0 ||
           static_cast<long long>(b.y - a.y) * (c.y - b.y) < 0;
}

// Does edge i keep clear of all others but its neighbours, and does it not fold back on those?
bool edge_is_free(const Polygon& p, int i) {
    const int n = static_cast<int>(p.size());
    const Point &a = p[i], &b = p[(i + 1) % n];
    if (folds_back(p[(i + n - 1) % n], a, b) || folds_back(a, b, p[(i + 2) % n])) return false;
    for (int k = 2; k <= n - 2; k++) {
        const int j = (i + k) % n;
        if (touch(a, b, p[j], p[(j + 1) % n])) return false;
    }
    return true;
}

bool edges_are_free(const Polygon& p, std::initializer_list<int> edges) {
    return std::all_of(edges.begin(), edges.end(), [&p](int i) { return edge_is_free(p, i); });
}

// All rules but the contacts of edges.
bool is_well_formed(const Polygon& p) {
    const int n = static_cast<int>(p.size());
    if (n < 4 || n > MAX_VERTICES || perimeter(p) > MAX_LENGTH) return false;
    std::unordered_set<long long> seen;
    for (int i = 0; i < n; i++) {
        const Point &a = p[i], &b = p[(i + 1) % n];
        if (a.x < 0 || a.x > SIDE || a.y < 0 || a.y > SIDE) return false;
        if ((a.x == b.x) == (a.y == b.y)) return false;  // oblique, or no length
        if (!seen.insert(static_cast<long long>(a.x) * (SIDE + 1) + a.y).second) return false;
    }
    return true;
}

bool is_valid(const Polygon& p) {
    if (!is_well_formed(p)) return false;
    for (int i = 0; i < static_cast<int>(p.size()); i++)
        if (!edge_is_free(p, i)) return false;
    return true;
}

constexpr int GRID = 350;
constexpr int CELL = (SIDE + GRID) / GRID;  // (SIDE + 1) / GRID, rounded up

// The rectangle of grid cells with the largest net catch; of no extent if all are negative.
Polygon best_rectangle(const std::vector<Fish>& fish) {
    std::vector<std::array<int, GRID>> cells(GRID);  // [column][row]
    for (auto& column : cells) column.fill(0);
    for (const Fish& f : fish) cells[f.at.x / CELL][f.at.y / CELL] += f.value;
    int best = 0;
    Point low{0, 0}, high{-1, -1};
    for (int left = 0; left < GRID; left++) {
        std::array<int, GRID> sums{};
        for (int right = left; right < GRID; right++) {
            int running = 0, bottom = 0;
            for (int row = 0; row < GRID; row++) {
                sums[row] += cells[right][row];
                if (running <= 0) {
                    running = 0;
                    bottom = row;
                }
                running += sums[row];
                if (running > best) {
                    best = running;
                    low = {left, bottom};
                    high = {right, row};
                }
            }
        }
    }
    const int x1 = low.x * CELL, y1 = low.y * CELL;
    const int x2 = std::min(SIDE, (high.x + 1) * CELL - 1);
    const int y2 = std::min(SIDE, (high.y + 1) * CELL - 1);
    if (x1 >= x2 || y1 >= y2) return {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    return {{x1, y1}, {x2, y1}, {x2, y2}, {x1, y2}};
}

struct State {
    Polygon polygon;
    int value;  // net catch, as far as the moves know
};

class Annealer {
   public:
    Annealer(const std::vector<Fish>& fish, Clock::time_point start, double seconds)
        : tree_(fish), start_(start), seconds_(seconds) {
        for (const Fish& f : fish) {
            for (int step = -1; step <= 1; step++) {
                xs_.push_back(std::clamp(f.at.x + step, 0, SIDE));
                ys_.push_back(std::clamp(f.at.y + step, 0, SIDE));
            }
        }
        for (auto* lines : {&xs_, &ys_}) {
            lines->push_back(0);
            lines->push_back(SIDE);
            std::sort(lines->begin(), lines->end());
            lines->erase(std::unique(lines->begin(), lines->end()), lines->end());
        }
        now_.polygon = best_rectangle(fish);
        const Point low = now_.polygon[0], high = now_.polygon[2];
        now_.value = tree_.value(low.x, high.x, low.y, high.y);
        best_ = now_;
    }

    Polygon run() {
        constexpr double HOT = 150.0, COLD = 0.01, FROZEN = 0.001;
        while (elapsed() < seconds_) {
            progress_ = std::min(1.0, elapsed() / seconds_);
            double temperature = HOT * std::pow(COLD / HOT, progress_);
            if (progress_ > 0.95) temperature = std::min(temperature, FROZEN);
            State next = now_;
            if (!move(next)) continue;
            const int delta = next.value - now_.value;
            if (delta < 0 && random_.unit() >= std::exp(delta / temperature)) continue;
            now_ = std::move(next);
            if (now_.value > best_.value) best_ = now_;
        }
        const bool usable = best_.value > 0 && is_valid(best_.polygon);
        return usable ? best_.polygon : Polygon{{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    }

   private:
    double elapsed() const {
        return std::chrono::duration<double>(Clock::now() - start_).count();
    }

    // Change next; false if nothing valid came out.
    bool move(State& next) {
        const int n = static_cast<int>(now_.polygon.size());
        const long long around = perimeter(now_.polygon);
        double shift = 0.48, bulge = 0.24;
        if (n + 2 > MAX_VERTICES || around * 100 > MAX_LENGTH * 95) {
            shift = 0.45;
            bulge = 0.0;
        } else if (n > 200) {
            shift = 0.40;
            bulge = 0.15;
        } else if (n > 50) {
            shift = 0.45;
            bulge = 0.20;
        }
        const double choice = random_.unit();
        if (choice < shift) return shift_edge(next);
        if (choice < shift + bulge) return add_bulge(next);
        return simplify(next);
    }

    // Where to move an edge of the line `old` to.
    int new_line(bool vertical, int old, double reach) {
        if (random_.unit() < 0.20 + 0.20 * progress_) {
            const int count = static_cast<int>(best_.polygon.size());
            const Point& vertex = best_.polygon[random_.integer(0, count - 1)];
            return vertical ? vertex.x : vertex.y;
        }
        if (random_.unit() < 0.75) {
            const std::vector<int>& lines = vertical ? xs_ : ys_;
            return lines[random_.integer(0, static_cast<int>(lines.size()) - 1)];
        }
        const bool small = progress_ > 0.75 && random_.unit() < 0.7;
        const int most = small ? 2 : static_cast<int>(reach) + 1;
        int step = random_.integer(-most, most);
        if (step == 0) step = random_.integer(0, 1) ? 1 : -1;
        return old + step;
    }

    // Does the polygon grow when the edge a -> b moves to larger coordinates?
    bool grows_upwards(const Point& a, const Point& b) const {
        const bool counter_clockwise = doubled_area(now_.polygon) > 0;
        const bool inside_is_below = is_vertical(a, b) ? b.y > a.y : b.x < a.x;
        return counter_clockwise == inside_is_below;
    }

    // Net catch between two lines, both included, over the closed span of the edge a -> b.
    int swept(const Point& a, const Point& b, int from, int to) {
        if (is_vertical(a, b)) return tree_.value(from, to, std::min(a.y, b.y), std::max(a.y, b.y));
        return tree_.value(std::min(a.x, b.x), std::max(a.x, b.x), from, to);
    }

    bool shift_edge(State& next) {
        Polygon& p = next.polygon;
        const int n = static_cast<int>(p.size());
        const int i = random_.integer(0, n - 1), j = (i + 1) % n;
        const Point a = p[i], b = p[j];
        const bool vertical = is_vertical(a, b);
        const int old = vertical ? a.x : a.y;
        const double reach = SIDE / 150.0 * std::max(0.1, 1.0 - 0.95 * progress_);
        const int line = new_line(vertical, old, reach);
        if (line == old || line < 0 || line > SIDE) return false;
        (vertical ? p[i].x : p[i].y) = line;
        (vertical ? p[j].x : p[j].y) = line;
        const bool up = line > old;
        const int change = up ? swept(a, b, old + 1, line) : swept(a, b, line, old - 1);
        next.value += up == grows_upwards(a, b) ? change : -change;
        return is_well_formed(p) && edges_are_free(p, {(i + n - 1) % n, i, j});
    }

    bool add_bulge(State& next) {
        Polygon& p = next.polygon;
        const int n = static_cast<int>(p.size());
        const int i = random_.integer(0, n - 1);
        const Point a = p[i], b = p[(i + 1) % n];
        const bool vertical = is_vertical(a, b);
        const int old = vertical ? a.x : a.y;
        const double reach = SIDE / 300.0 * std::max(0.1, 1.0 - 0.9 * progress_);
        const int line = new_line(vertical, old, reach);
        if (line == old || line < 0 || line > SIDE) return false;
        const Point c = vertical ? Point{line, a.y} : Point{a.x, line};
        const Point d = vertical ? Point{line, b.y} : Point{b.x, line};
        p.insert(p.begin() + i + 1, {c, d});
        const bool up = line > old;
        const int change = up ? swept(a, b, old, line) : swept(a, b, line, old);
        next.value += up == grows_upwards(a, b) ? change : -change;
        return is_well_formed(p) && edges_are_free(p, {(i + n + 1) % (n + 2), i, i + 1, i + 2, (i + 3) % (n + 2)});
    }

    bool simplify(State& next) {
        Polygon& p = next.polygon;
        const int n = static_cast<int>(p.size());
        if (n <= 4) return false;
        const int start = random_.integer(0, n - 1);
        for (int k = 0; k < n; k++) {
            const int i = (start + k) % n;
            const Point &a = p[(i + n - 1) % n], &b = p[i], &c = p[(i + 1) % n];
            if ((a.x == b.x && b.x == c.x) || (a.y == b.y && b.y == c.y)) {
                p.erase(p.begin() + i);
                return is_well_formed(p) && edges_are_free(p, {(i + n - 2) % (n - 1)});
            }
        }
        return false;
    }

    FishTree tree_;
    Clock::time_point start_;
    double seconds_;
    double progress_ = 0.0;
    std::vector<int> xs_, ys_;  // lines next to fish
    Random random_;
    State now_, best_;
};

Polygon solve(const std::vector<Fish>& fish, Clock::time_point start, double time_limit) {
    const double seconds = std::max(0.2, time_limit - 0.1);
    return Annealer(fish, start, seconds).run();
}
// EVOLVE-BLOCK-END

int main(int argc, char** argv) {
    const auto start = std::chrono::steady_clock::now();
    const double time_limit = argc > 1 ? std::atof(argv[1]) : 1.95;
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    int n;
    std::cin >> n;
    std::vector<Fish> fish(2 * n);
    for (int i = 0; i < 2 * n; i++) {
        std::cin >> fish[i].at.x >> fish[i].at.y;
        fish[i].value = i < n ? 1 : -1;
    }
    const Polygon polygon = solve(fish, start, time_limit);
    std::string answer = std::to_string(polygon.size()) + '\n';
    for (const Point& p : polygon)
        answer += std::to_string(p.x) + ' ' + std::to_string(p.y) + '\n';
    std::cout << answer;
}
