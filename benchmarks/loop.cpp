// Algorithm 1 (Yang, Ren, Dhillon, Sanghavi, 2021), round by round, on the paper's multinomial logit world:
// n = 20, k = 10, v_i = 1 - 0.04 i, alpha = 2.
//
// usage: loop [horizon] [runs]; prints the seconds of all runs together and the mean regret.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

constexpr int n = 20, k = 10;
constexpr double alpha = 2.0;

// xoshiro256++ (Blackman, Vigna, 2019), seeded by splitmix64.
struct Random {
    uint64_t s[4];

    explicit Random(uint64_t seed) {
        for (auto &word : s) {
            uint64_t z = (seed += 0x9e3779b97f4a7c15ull);
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
            word = z ^ (z >> 31);
        }
    }

    static uint64_t rotate(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

    uint64_t next() {
        const uint64_t out = rotate(s[0] + s[3], 23) + s[0], shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = rotate(s[3], 45);
        return out;
    }

    double uniform() { return (next() >> 11) * 0x1.0p-53; }
};

// The arms start in random order; later ties keep the order of the round before.
double play(const std::vector<double> &value, long horizon, uint64_t seed) {
    Random rng(seed);
    std::vector<double> index(n, std::numeric_limits<double>::infinity()), reward(n, 0.0);
    std::vector<long> pulls(n, 0);
    std::vector<int> order(n);
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) std::swap(order[i], order[rng.next() % (i + 1)]);

    double best = 1.0;
    for (int i = 0; i < k; i++) best += value[i];
    const double nothing_at_best = 1 / best, level = alpha * std::log((double)horizon);
    double regret = 0;
    for (long t = 0; t < horizon; t++) {
        double total = 1.0;
        for (int i = 0; i < k; i++) total += value[order[i]];
        regret += 1 / total - nothing_at_best;

        double left = rng.uniform() * total;
        int winner = -1;
        for (int i = 0; i < k; i++) {
            left -= value[order[i]];
            if (left < 0) {
                winner = i;
                break;
            }
        }
        for (int i = 0; i < k; i++) {
            const int arm = order[i];
            pulls[arm]++;
            if (i == winner) reward[arm] += 1;
            index[arm] = reward[arm] / pulls[arm] + std::sqrt(level / pulls[arm]);
        }
        // Insertion sort: the order of the round before is nearly right.
        for (int i = 1; i < n; i++) {
            const int arm = order[i];
            const double mine = index[arm];
            int place = i;
            while (place && index[order[place - 1]] < mine) {
                order[place] = order[place - 1];
                place--;
            }
            order[place] = arm;
        }
    }
    return regret;
}

int main(int argc, char **argv) {
    const long horizon = argc > 1 ? std::atol(argv[1]) : 1000000;
    const int runs = argc > 2 ? std::atoi(argv[2]) : 1;
    std::vector<double> value(n);
    for (int i = 0; i < n; i++) value[i] = 1.0 - 0.04 * (i + 1);

    double regret = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int run = 0; run < runs; run++) regret += play(value, horizon, 1234 + run);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%.9f %.6f\n", seconds.count(), regret / runs);
}
